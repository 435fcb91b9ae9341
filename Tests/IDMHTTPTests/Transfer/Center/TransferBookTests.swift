import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The book of transfers", .timeLimit(.ample))
struct TransferBookTests {
    @Test("In every order of events no rule is broken", .offThePool, arguments: [1, 2])
    func explored(width: Int) {
        let exploration = Exploration(of: Walk(ids: ["a", "b"], width: width, budget: Volume.of(8, normally: 5)))
        #expect(exploration.violation == nil)
        #expect(exploration.states > 500, "\(exploration.states) states, \(exploration.moves) moves")
    }

    @Test("On long walks among many no rule is broken")
    func walks() {
        let walk = Walk(ids: ["a", "b", "c", "d", "e"], width: 2, budget: .max)
        let exploration = Exploration(of: walk, walks: Volume.of(2_000, normally: 50), length: 200)
        #expect(exploration.violation == nil)
    }

    @Test("The highest is next, and of equals the one that has waited longest")
    func order() {
        var book = TransferBook(width: 1)
        #expect(book.add("first", .normal) == [.record("first"), .start("first")])
        #expect(book.add("low", .low) == [.record("low")])
        _ = book.add("second", .normal)
        _ = book.add("third", .normal)
        _ = book.add("high", .high)
        _ = book.pause("second")
        _ = book.resume("second")
        var started: [String] = []
        var running = "first"
        while case .start(let next)? = book.end(running, .success).last {
            started.append(next)
            running = next
        }
        #expect(started == ["high", "third", "second", "low"])
    }

    @Test("Of several things at once those that end are known before those that begin, each once")
    func touched() {
        var book = TransferBook(width: 1)
        _ = book.add("a", .normal)
        #expect(book.takeTouched() == ["a"])
        _ = book.add("b", .normal)
        _ = book.add("c", .normal)
        _ = book.end("a", .success)
        #expect(book.takeTouched() == ["c", "a", "b"])
        _ = book.pause("b")
        _ = book.resume("b")
        #expect(book.takeTouched() == ["b", "c"] && book.takeTouched().isEmpty)
    }

    @Test("A paused one gives its place away, and waits for one when it is resumed")
    func places() {
        var book = TransferBook(width: 1)
        _ = book.add("a", .normal)
        _ = book.add("b", .normal)
        #expect(book.pause("a") == [.hold("a"), .start("b")])
        #expect(book.pause("a") == [])
        #expect(book.resume("a") == [] && book.phase(of: "a") == .waiting)
        #expect(book.resume("a") == [])
        #expect(book.end("b", .failure) == [.release("a")])
        #expect(book.phase(of: "b") == .failed && book.phase(of: "a") == .running)
    }

    @Test("All are paused at once, and none begins or goes on in the place of another")
    func all() {
        var book = TransferBook(width: 2)
        for id in ["a", "b", "c", "d"] { _ = book.add(id, .normal) }
        // Waits again, and is held: it would go on at once.
        #expect(book.pause("a") == [.hold("a"), .start("c")] && book.resume("a") == [])
        _ = book.prioritize("a", .high)
        #expect(book.pauseAll() == [.hold("b"), .hold("c")])
        #expect(book.ids.allSatisfy { book.phase(of: $0) == .paused } && book.pauseAll() == [])
        // In the order in which they got into the line.
        #expect(book.ids == ["b", "c", "d", "a"])
        #expect(book.resumeAll() == [.release("b"), .release("c")])
        #expect(book.phase(of: "d") == .waiting && book.phase(of: "a") == .waiting && book.resumeAll() == [])
    }

    @Test("One that is asked for again while it ends begins when it has ended")
    func again() {
        var book = TransferBook(width: 2)
        _ = book.add("a", .normal)
        #expect(book.cancel("a", keeping: false) == [.record("a"), .stop("a")])
        #expect(book.cancel("a", keeping: true) == [])
        #expect(book.add("a", .normal) == [.record("a")] && book.phase(of: "a") == .waiting)
        #expect(book.end("a", .cancelled) == [.discard("a")])
        #expect(book.end("a", .success) == [.record("a"), .start("a")])
    }

    @Test("A width of less than one is one")
    func width() {
        #expect(TransferBook(width: 0).width == 1 && TransferBook(width: -3).width == 1)
    }
}

/// A book, with somebody who does what comes out of it, and tasks that end as they like.
private struct Walk: Explorable {
    enum Task: Hashable {
        case going, held, stopped, discarding
        /// Puts its file into its place, whatever it is told.
        case landing, landingHeld
    }

    enum Record { case live, liveOwing, cancelled }

    enum Move {
        case add(String, TransferPriority), pause(String), resume(String), cancel(String, keeping: Bool), remove(
            String, keeping: Bool)
        case land(String)
        case end(String, TransferBook.Ending)
        /// The process ends, and another one begins.
        case endProcess
        case prioritize(String, TransferPriority)
    }

    struct Footprint: Hashable {
        let entries: [String: TransferBook.Entry]
        let tasks: [String: Task]
        let records: [String: Record]
        let left: Set<String>
        let kept: Set<String>
        let doomed: Set<String>
        let budget: Int
    }

    let ids: [String]
    private var book: TransferBook
    private var tasks: [String: Task] = [:]
    /// What is known after the end of the process.
    private var records: [String: Record] = [:]
    /// Which downloads have left something.
    private var left: Set<String> = []
    /// Which downloads have left something that was to stay.
    private var kept: Set<String> = []
    /// Which have left something that is to go.
    private var doomed: Set<String> = []
    private var budget: Int

    init(ids: [String], width: Int, budget: Int) {
        self.ids = ids
        self.budget = budget
        book = TransferBook(width: width)
    }

    var footprint: Footprint {
        // Only the order of the turns tells anything.
        let turns = book.entries.values.map(\.turn).sorted()
        let entries = book.entries.mapValues { entry in
            var entry = entry
            entry.turn = turns.firstIndex(of: entry.turn) ?? 0
            return entry
        }
        return Footprint(
            entries: entries, tasks: tasks, records: records, left: left, kept: kept, doomed: doomed, budget: budget)
    }

    var moves: [Move] {
        guard budget > 0 else { return [] }
        var moves: [Move] = [.endProcess]
        for id in ids {
            moves += [
                .add(id, .normal), .pause(id), .resume(id), .cancel(id, keeping: false), .cancel(id, keeping: true),
            ]
            moves += [.add(id, .high), .remove(id, keeping: false), .remove(id, keeping: true), .prioritize(id, .low)]
            switch tasks[id] {
            // A task that was stopped, or is held, may have ended well just before.
            case .going, .stopped:
                moves += [.land(id), .end(id, .success), .end(id, .failure), .end(id, .cancelled)]
            case .held: moves += [.land(id), .end(id, .success), .end(id, .failure)]
            case .landing, .landingHeld: moves += [.end(id, .success), .end(id, .failure)]
            case .discarding: moves.append(.end(id, .success))
            case nil: break
            }
        }
        return moves
    }

    mutating func make(_ move: Move) throws(Violation) {
        if budget < .max { budget -= 1 }
        let before = book
        switch move {
        case .add(let id, let priority): try perform(book.add(id, priority))
        case .pause(let id): try perform(book.pause(id))
        case .resume(let id): try perform(book.resume(id))
        case .cancel(let id, let keeping): try perform(book.cancel(id, keeping: keeping))
        case .remove(let id, let keeping):
            if keeping, book.entries[id]?.phase.mayGoOn == true, book.entries[id]?.owes == false { kept.insert(id) }
            try perform(book.remove(id, keeping: keeping))
        case .prioritize(let id, let priority): try perform(book.prioritize(id, priority))
        case .land(let id):
            let landed: Task? =
                switch tasks[id] {
                case .going: .landing
                case .held: .landingHeld
                default: nil
                }
            try require(book.land(id) == (landed != nil), "\(id) lands as \(String(describing: tasks[id]))")
            if let landed { tasks[id] = landed }
        case .end(let id, let ending):
            let task = tasks.removeValue(forKey: id)
            if task == .discarding || ending == .success {
                left.remove(id)
                doomed.remove(id)
            }
            try perform(book.end(id, ending))
        case .endProcess:
            let found = records
            (book, tasks) = (TransferBook(width: book.width), [:])
            // Those first that go on.
            for (turn, id) in ids.enumerated() where found[id] != .cancelled && found[id] != nil {
                try perform(book.find(id, .paused, .normal, turn: turn, owes: found[id] == .liveOwing))
            }
            for (turn, id) in ids.enumerated() where found[id] == .cancelled {
                try perform(book.find(id, .cancelled, .normal, turn: turn))
            }
        }
        for (id, entry) in book.entries where isCancelled(entry) {
            if entry.keeps { kept.insert(id) }
            if !entry.keeps, entry.phase == .cancelled, left.contains(id) { doomed.insert(id) }
        }
        try check()
        try checkShown(move, before)
        try checkOrder(before)
        try checkTwice(move, before)
    }

    private mutating func perform(_ actions: [TransferBook.Action]) throws(Violation) {
        for action in actions {
            switch action {
            case .start(let id):
                try require(tasks[id] == nil, "\(id) has two tasks")
                try require(!doomed.contains(id), "\(id) begins with what was to go")
                tasks[id] = .going
                left.insert(id)
                kept.remove(id)
            case .hold(let id):
                try require(tasks[id] == .going || tasks[id] == .landing, "\(id) is held, and does not run")
                tasks[id] = tasks[id] == .going ? .held : .landingHeld
            case .release(let id):
                try require(tasks[id] == .held || tasks[id] == .landingHeld, "\(id) is let go on, and is not held")
                tasks[id] = tasks[id] == .held ? .going : .landing
            case .stop(let id):
                try require(
                    [.going, .held, .landing, .landingHeld].contains(tasks[id]), "\(id) is stopped without a task")
                tasks[id] = .stopped
            case .discard(let id):
                try require(tasks[id] == nil, "what \(id) has left is removed under its task")
                tasks[id] = .discarding
            case .record(let id):
                // What is to be kept, and not to go on, is nobody's to know.
                let leavesNone = book.entries[id].map { isCancelled($0) && $0.keeps } ?? false
                records[id] = leavesNone ? nil : book.entries[id].map { record(of: $0) } ?? .cancelled
            case .erase(let id): records[id] = nil
            }
        }
    }

    private func record(of entry: TransferBook.Entry) -> Record {
        isCancelled(entry) ? .cancelled : entry.owes ? .liveOwing : .live
    }

    private func isCancelled(_ entry: TransferBook.Entry) -> Bool { entry.phase == .cancelled || entry.isUnwanted }

    private func check() throws(Violation) {
        let running = book.entries.filter { $0.value.phase == .running }
        try require(running.count <= book.width, "\(running.count) run")
        let going = tasks.filter { $0.value == .going || $0.value == .landing }
        try require(Set(going.keys) == Set(running.keys), "\(going.keys) work, and \(running.keys) run")
        for (id, entry) in book.entries {
            let run: TransferBook.Run =
                switch tasks[id] {
                case nil: .none
                case .going, .held: .alive
                case .landing, .landingHeld: .landing
                case .stopped: .ending
                case .discarding: .discarding
                }
            try require(entry.run == run, "\(id) is \(entry.run), and its task \(run)")
            if entry.phase == .waiting, entry.run == .none || entry.run.isAlive {
                try require(running.count == book.width, "\(id) waits, and there is a place")
            }
            try require(!entry.isLeaving || entry.run != .none, "\(id) is forgotten, and nobody does anything for it")
            let record: Record? =
                switch entry.phase {
                case .finished: nil
                case _ where !isCancelled(entry): record(of: entry)
                default: entry.keeps || entry.run == .none ? nil : .cancelled
                }
            try require(
                records[id] == record, "\(id) is \(entry.phase), and known as \(String(describing: records[id]))")
            if entry.run == .none, entry.phase == .cancelled, !entry.keeps {
                try require(!left.contains(id), "\(id) was cancelled, and has left something")
            }
        }
        for id in ids where book.entries[id] == nil {
            try require(tasks[id] == nil, "\(id) is forgotten, and has a task")
            try require(records[id] == nil, "\(id) is forgotten, and known")
            try require(!left.contains(id) || kept.contains(id), "\(id) is forgotten, and has left something")
        }
    }

    /// Whoever is shown one change after the other sees all that run, and never more than may.
    private mutating func checkShown(_ move: Move, _ before: TransferBook) throws(Violation) {
        var running: Set<String> = []
        if case .endProcess = move {} else { running = Set(before.entries.filter { $0.value.phase == .running }.keys) }
        for id in book.takeTouched() {
            if book.phase(of: id) == .running { running.insert(id) } else { running.remove(id) }
            try require(running.count <= book.width, "\(running) are shown to run")
        }
        try require(
            running == Set(book.entries.filter { $0.value.phase == .running }.keys), "\(running) are shown to run")
    }

    /// Nobody begins, or goes on, before somebody who is to come first.
    private func checkOrder(_ before: TransferBook) throws(Violation) {
        let began = book.entries.filter { id, entry in
            entry.phase == .running && before.entries[id]?.phase != .running
        }
        for (first, other) in began {
            for (id, entry) in book.entries where entry.mayBegin {
                let isBehind = (other.priority, entry.turn) >= (entry.priority, other.turn)
                try require(isBehind, "\(first) begins before \(id)")
            }
        }
    }

    /// What is asked for twice has nothing more to do the second time.
    private func checkTwice(_ move: Move, _ before: TransferBook) throws(Violation) {
        var again = book
        let actions: [TransferBook.Action]
        switch move {
        case .add, .land, .end, .endProcess, .prioritize: return
        case .pause(let id): actions = again.pause(id)
        case .resume(let id): actions = again.resume(id)
        case .cancel(let id, let keeping): actions = again.cancel(id, keeping: keeping)
        case .remove(let id, let keeping): actions = again.remove(id, keeping: keeping)
        }
        try require(actions.isEmpty, "\(move) does something twice: \(actions)")
        try require(again.entries == book.entries, "\(move) changes something twice")
    }
}
