import Console
import IDMCore

/// 5. The search in a terminal: every key starts a search, and every event redraws the screen.
@MainActor
final class Interactive {
    private let flow: Flow
    private let terminal: Terminal
    private var query = ""
    private var users: Users?
    /// The query that `users` answers.
    private var answered = ""
    private var selection = 0
    private var card: [String] = []
    private var error: String?
    private var loading = 0
    private var tick = 0

    init(_ flow: Flow, _ terminal: Terminal) {
        self.flow = flow
        self.terminal = terminal
    }

    /// Handles keys until the user leaves.
    func run() async {
        let spinner = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(100))
                if loading > 0 { draw() }
            }
        }
        defer { spinner.cancel() }
        draw()
        for await key in terminal.keys {
            switch key {
            case .character(let character): type(query + String(character))
            case .delete: type(String(query.dropLast()))
            case .up: select(selection - 1)
            case .down: select(selection + 1)
            case .enter: open()
            case .leave: return
            }
            draw()
        }
    }

    private func type(_ text: String) {
        query = text
        (card, error) = ([], nil)
        guard !text.isEmpty else {
            flow.search.cancel()
            return users = nil
        }
        flow.search.prepareCall(text)
            .onBeginning { self.begin() }
            .onSuccess { users in
                (self.users, self.answered) = (users, text)
                self.select(self.selection)
            }
            .onError { error in
                // A failed search leaves a cached result of its own query, and no other.
                if self.answered != text { self.users = nil }
                self.error = error.userText
            }
            .onCompletion { self.end() }
            .call()
    }

    private func open() {
        guard let users, users.logins.indices.contains(selection) else { return }
        flow.card.prepareCall(users.logins[selection])
            .onBeginning { self.begin() }
            .onSuccess { self.card = $0.lines }
            .onError { self.error = $0.userText }
            .onCompletion { self.end() }
            .call()
    }

    private func begin() {
        loading += 1
        error = nil
        draw()
    }

    private func end() {
        loading -= 1
        draw()
    }

    private func select(_ index: Int) {
        selection = min(max(index, 0), max((users?.logins.count ?? 0) - 1, 0))
    }

    private func draw() {
        tick += 1
        let spinner = loading > 0 ? String(Array("|/-\\")[tick % 4]) : " "
        var lines = ["\(spinner) search: \(query)_"]
        if let users {
            lines += users.logins.enumerated().map { ($0 == selection ? "  > " : "    ") + $1 }
            lines.append("    (\(users.source))")
        }
        lines += card.map { "      \($0)" }
        if let error { lines.append("! \(error)") }
        lines.append("  type to search, arrows to choose, return to open, escape to leave")
        terminal.draw(lines)
    }
}
