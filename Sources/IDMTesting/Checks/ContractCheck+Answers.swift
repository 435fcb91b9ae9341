import IDMCore

/// Whose answer goes to whom. It is known where the inputs are several.
extension ContractCheck {
    typealias Numbered = (number: Int, answer: Provider.Output?)

    /// Asks many times at once with several inputs, then one after the other, and looks for those that get the answer
    /// of another input, three times in a row: what differs from time to time may be the same by chance.
    func mixUp(among count: Int) async throws -> String? {
        guard others != nil else { return nil }
        var found: String?
        for _ in 0..<3 {
            let provider = try make()
            let trials = await ask(count, provider)
            defer { for trial in trials { trial.cancel() } }
            try await answered(trials)
            let answers = Array(zip(0..., trials.map(\.answer)))
            let strange = try await strange(among: answers + laterAnswers(of: provider, after: count))
            let mixedUp = strange.filter { $0.fate == .mixedUp }.map(\.number)
            guard !mixedUp.isEmpty else { return nil }
            let atOnce = mixedUp.count { $0 < count }
            found =
                atOnce > 0
                ? words(for: ContractFate.mixedUp.words(count: atOnce), among: count)
                : "expected a request after others to be answered, and it \(ContractFate.mixedUp.words)."
        }
        return found
    }

    /// The answers to all inputs, where none is asked before the one before is answered.
    private func laterAnswers(of provider: Provider, after count: Int) async throws -> [Numbered] {
        var answers: [Numbered] = []
        for number in count..<(count + inputCount) {
            answers.append((number, try await askOne(provider, number).answer))
        }
        return answers
    }

    /// What is strange about answers: that they are those that another input gets alone, or no input. The latter says
    /// something only to whoever knows that they don't depend on what the provider has been asked before.
    func strange(among answers: [Numbered]) async throws -> [(number: Int, fate: ContractFate)] {
        guard others != nil else { return [] }
        let changed = answers.filter { strangeness(of: $0, beside: alone) == .changed }
        var mixedUp = answers.filter { strangeness(of: $0, beside: alone) == .mixedUp }
        // A provider may know more by and by, and tell that as well when it is asked alone.
        if !mixedUp.isEmpty {
            let later = try await answersAlone(again: true)
            mixedUp.removeAll { isSame($0, as: later) }
        }
        // Often: where an answer differs from time to time, another one may be it by chance.
        for _ in 0..<5 where !mixedUp.isEmpty {
            let alone = try await answersAlone()
            mixedUp = mixedUp.filter { strangeness(of: $0, beside: alone) == .mixedUp }
        }
        return mixedUp.map { ($0.number, .mixedUp) } + changed.map { ($0.number, .changed) }
    }

    private func strangeness(of numbered: Numbered, beside alone: [Provider.Output?]) -> ContractFate? {
        guard let isSame = others?.isSame, let answer = numbered.answer, let own = alone[numbered.number % inputCount],
            !isSame(answer, own)
        else { return nil }
        return alone.contains { $0.map { isSame(answer, $0) } ?? false } ? .mixedUp : .changed
    }

    private func isSame(_ numbered: Numbered, as answers: [Provider.Output?]) -> Bool {
        guard let answer = numbered.answer, let own = answers[numbered.number % inputCount] else { return false }
        return others?.isSame(answer, own) == true
    }

    /// The answer that each input gets from a provider of its own, one after the other. Where one doesn't come no more
    /// are asked for, and none where there is one input: then nobody looks at them.
    ///
    /// - Parameter again: Whether each is asked once more after a moment, and that answer counts.
    func answersAlone(again: Bool = false) async throws -> [Provider.Output?] {
        guard others != nil else { return [] }
        var answers: [Provider.Output?] = []
        for number in 0..<inputCount {
            let provider = try make()
            var (fate, answer) = try await askOne(provider, number)
            if again {
                try await patience.clock.pause(for: patience.beforeCancel)
                (fate, answer) = try await askOne(provider, number)
            }
            answers.append(answer)
            if fate == .open { break }
        }
        return answers + Array(repeating: nil, count: inputCount - answers.count)
    }

    /// Makes one request, and returns what becomes of it, and the answer if that is kept.
    func askOne(_ provider: Provider, _ number: Int) async throws -> (fate: ContractFate?, answer: Provider.Output?) {
        let trial = ask(provider, number: number)
        defer { trial.cancel() }
        try await answered([trial])
        return (trial.fate, trial.answer)
    }
}
