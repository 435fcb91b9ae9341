/// Which transfers there are, where each stands, and whose turn it is. A value: what is to be done comes out of each event, in
/// order, and is done by somebody else where no lock is held.
struct TransferBook: Sendable {
    enum Phase: Sendable, Hashable {
        case waiting, running, paused, finished, failed, cancelled

        var isOver: Bool { self == .finished || self == .failed || self == .cancelled }
    }

    /// What works for a transfer.
    enum Run: Sendable, Hashable {
        /// Nothing does.
        case none
        /// A task does, or is held.
        case alive
        /// A task that was stopped does still. Until it has ended, no other one may.
        case ending
    }

    enum Action: Sendable, Hashable {
        /// A task is to be started.
        case start(String)
        /// The task is to stop where it is, and to keep what it has.
        case hold(String)
        /// The task goes on.
        case release(String)
        /// The task is to end.
        case stop(String)
        /// What a transfer has left behind is to go.
        case discard(String)
        /// The transfer is to be known after the end of the process.
        case record(String)
        /// The transfer isn't to be known any more.
        case erase(String)
        /// Nobody asks for the transfer any more.
        case forget(String)
    }

    /// How a task has ended.
    enum Ending: Sendable, Hashable {
        case success, failure, cancelled
    }

    struct Entry: Sendable, Hashable {
        var phase: Phase
        var run = Run.none
        var priority: TransferPriority
        /// When it got into the line.
        var turn: Int
        /// Whether what has come stays when it is cancelled.
        var keeps = false
        /// Whether it goes once its task has ended.
        var isLeaving = false
    }

    /// How many may run at once.
    let width: Int
    private(set) var entries: [String: Entry] = [:]
    private var lastTurn = 0

    init(width: Int) {
        self.width = max(width, 1)
    }

    /// The transfers in the order in which they got into the line.
    var ids: [String] {
        entries.filter { !$0.value.isLeaving }.sorted { $0.value.turn < $1.value.turn }.map(\.key)
    }

    func phase(of id: String) -> Phase? { entries[id]?.phase }

    // MARK: Events

    /// Somebody asks for a transfer. One that is there goes on, or begins anew if it was over.
    mutating func add(_ id: String, _ priority: TransferPriority) -> [Action] {
        guard var entry = entries[id], !entry.isLeaving || entry.run == .ending else {
            entries[id] = Entry(phase: .waiting, priority: priority, turn: nextTurn())
            return [.record(id)] + admit()
        }
        entry.priority = priority
        entry.isLeaving = false
        if entry.phase != .waiting, entry.phase != .running { wait(&entry) }
        entries[id] = entry
        return [.record(id)] + admit()
    }

    /// A transfer was found that another process has left.
    mutating func find(_ id: String, _ priority: TransferPriority) {
        guard entries[id] == nil else { return }
        entries[id] = Entry(phase: .paused, priority: priority, turn: nextTurn())
    }

    mutating func pause(_ id: String) -> [Action] {
        guard let entry = entries[id], entry.phase == .waiting || entry.phase == .running else { return [] }
        entries[id]?.phase = .paused
        // One that waits is held already, if it has a task.
        return (entry.phase == .running ? [.hold(id)] : []) + admit()
    }

    mutating func resume(_ id: String) -> [Action] {
        guard var entry = entries[id], entry.phase == .paused || entry.phase == .failed, !entry.isLeaving else {
            return []
        }
        wait(&entry)
        entries[id] = entry
        return admit()
    }

    mutating func cancel(_ id: String, keeping: Bool) -> [Action] {
        guard let entry = entries[id], !entry.phase.isOver || entry.phase == .failed else { return [] }
        entries[id]?.phase = .cancelled
        entries[id]?.keeps = keeping
        switch entry.run {
        case .none:
            return [.erase(id)] + (keeping ? [] : [.discard(id)]) + admit()
        case .alive:
            entries[id]?.run = .ending
            return [.erase(id), .stop(id)] + admit()
        case .ending:
            return [.erase(id)] + admit()
        }
    }

    /// Cancels a transfer that isn't over, and forgets it.
    mutating func remove(_ id: String) -> [Action] {
        let actions = cancel(id, keeping: false)
        guard let entry = entries[id] else { return actions }
        if entry.run == .none {
            entries[id] = nil
            return actions + [.forget(id)]
        }
        entries[id]?.isLeaving = true
        return actions + [.forget(id)]
    }

    mutating func prioritize(_ id: String, _ priority: TransferPriority) -> [Action] {
        guard let entry = entries[id], entry.priority != priority else { return [] }
        entries[id]?.priority = priority
        return entry.phase.isOver ? [] : [.record(id)]
    }

    /// The task of a transfer has ended.
    mutating func end(_ id: String, _ ending: Ending) -> [Action] {
        guard let entry = entries[id], entry.run != .none else { return [] }
        entries[id]?.run = .none
        if entry.run == .ending {
            let discards = entry.phase == .cancelled && !entry.keeps && ending != .success
            if entry.isLeaving { entries[id] = nil }
            return (discards ? [.discard(id)] : []) + admit()
        }
        switch ending {
        case .success:
            entries[id]?.phase = .finished
            return [.erase(id)] + admit()
        case .failure:
            entries[id]?.phase = .failed
            return admit()
        case .cancelled:
            entries[id]?.phase = .cancelled
            return [.erase(id), .discard(id)] + admit()
        }
    }

    // MARK: The line

    private mutating func wait(_ entry: inout Entry) {
        entry.phase = .waiting
        entry.turn = nextTurn()
    }

    private mutating func nextTurn() -> Int {
        lastTurn += 1
        return lastTurn
    }

    private mutating func admit() -> [Action] {
        var actions: [Action] = []
        var running = entries.values.count { $0.phase == .running }
        while running < width {
            let next = entries.filter { $0.value.phase == .waiting && $0.value.run != .ending }
                .min { ($1.value.priority, $0.value.turn) < ($0.value.priority, $1.value.turn) }
            guard let next else { break }
            entries[next.key]?.phase = .running
            entries[next.key]?.run = .alive
            actions.append(next.value.run == .alive ? .release(next.key) : .start(next.key))
            running += 1
        }
        return actions
    }
}
