/// Which transfers there are, where each stands, and whose turn it is. A value: what is to be done comes out of each
/// event, in order, and is done by somebody else where no lock is held.
struct TransferBook: Sendable {
    enum Phase: Sendable, Hashable {
        case waiting, running, paused, finished, failed, cancelled

        /// Whether there is still something to do, perhaps: it has not been done, and is wanted.
        var mayGoOn: Bool { self != .finished && self != .cancelled }

        var isOver: Bool { self == .finished || self == .failed || self == .cancelled }
    }

    /// What works for a transfer. While anything does that isn't to go on, nothing else may begin.
    enum Run: Sendable, Hashable {
        /// Nothing.
        case none
        /// A task, which may be held.
        case alive
        /// A task that puts its file into its place, and can't be held or stopped from there.
        case landing
        /// A task that was stopped.
        case ending
        /// Whatever removes what has come.
        case discarding

        /// Whether it is a task that may come to a result.
        var isAlive: Bool { self == .alive || self == .landing }
    }

    enum Action: Sendable, Hashable {
        /// A task is to be started. ``TransferBook/end(_:_:keeping:)`` is to be told of its end.
        case start(String)
        /// The task is to stop where it is, and to keep what it has.
        case hold(String)
        /// The task goes on.
        case release(String)
        /// The task is to end.
        case stop(String)
        /// What has come is to be removed. ``TransferBook/end(_:_:keeping:)`` is to be told when it has been.
        case discard(String)
        /// Where the transfer stands is to be known after the end of the process.
        case record(String)
        /// It isn't to be known then any more.
        case erase(String)
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
        /// Whether what has come is to be removed before anything else begins.
        var owes = false
        /// Whether it is cancelled if its file doesn't get to its place.
        var isUnwanted = false
        /// Whether it has been forgotten, and only its task is still there.
        var isLeaving = false

        /// Whether it waits for nothing but a place.
        var mayBegin: Bool { phase == .waiting && (run == .none || run.isAlive) }
    }

    /// How many may run at once.
    let width: Int
    private(set) var entries: [String: Entry] = [:]
    /// What has changed since somebody asked, in order, as often as it has.
    private var touched: [String] = []
    private var line = TransferLine()
    /// How many run.
    private var running = 0
    private var lastTurn = 0

    init(width: Int) {
        self.width = max(width, 1)
    }

    /// The transfers in the order in which they got into the line.
    var ids: [String] {
        entries.filter { !$0.value.isLeaving }.sorted { $0.value.turn < $1.value.turn }.map(\.key)
    }

    /// Where a transfer stands. Nil if there is none, or if it was forgotten.
    func phase(of id: String) -> Phase? {
        entries[id].flatMap { $0.isLeaving ? nil : $0.phase }
    }

    /// What has changed since somebody asked, each once: those first that don't run, so that nobody who is told one
    /// after the other sees more of them run than may.
    mutating func takeTouched() -> [String] {
        var seen: Set<String> = []
        let ids = touched.filter { seen.insert($0).inserted }
        touched = []
        return ids.filter { phase(of: $0) != .running } + ids.filter { phase(of: $0) == .running }
    }

    private mutating func set(_ id: String, _ entry: Entry?) {
        change(id, entry)
        touched.append(id)
    }

    /// Nobody is told of it.
    private mutating func change(_ id: String, _ entry: Entry?) {
        if entries[id]?.phase == .running { running -= 1 }
        if entry?.phase == .running { running += 1 }
        entries[id] = entry
        if let entry, entry.mayBegin { line.add(id, entry.priority, turn: entry.turn) } else { line.remove(id) }
    }

    // MARK: What somebody asks for

    /// One that is there goes on, or begins anew if it was over.
    mutating func add(_ id: String, _ priority: TransferPriority) -> [Action] {
        var entry = entries[id] ?? Entry(phase: .cancelled, priority: priority, turn: 0)
        var actions = [Action.record(id)]
        // A task that is held would go on with what was asked for before.
        if entry.run == .alive, entry.phase != .running {
            entry.run = .ending
            actions.append(.stop(id))
        }
        entry.priority = priority
        entry.isLeaving = false
        entry.isUnwanted = false
        entry.keeps = false
        if entry.phase != .running, entry.phase != .waiting { wait(&entry) }
        set(id, entry)
        return actions + admit()
    }

    /// Takes up what another process has left, or has finished or cancelled and not come to the end of it: in the order
    /// of their turns.
    ///
    /// - Parameter owes: Whether what has come is to be removed before anything else begins.
    mutating func find(
        _ id: String, _ phase: Phase, _ priority: TransferPriority, turn: Int, owes: Bool = false
    ) -> [Action] {
        guard entries[id] == nil else { return [] }
        // Those that come later come behind them, also after the next start.
        lastTurn = max(turn, nextTurn())
        var entry = Entry(phase: phase, priority: priority, turn: lastTurn)
        entry.isLeaving = phase == .cancelled
        entry.owes = owes || entry.isLeaving
        let removes = entry.owes || phase == .finished
        if removes { entry.run = .discarding }
        set(id, entry)
        return removes ? [.discard(id)] : []
    }

    mutating func pause(_ id: String) -> [Action] {
        guard var entry = entries[id], entry.phase == .waiting || entry.phase == .running else { return [] }
        // What waits is held already, if it has a task.
        let holds = entry.phase == .running
        entry.phase = .paused
        set(id, entry)
        return (holds ? [.hold(id)] : []) + admit()
    }

    /// Those that wait first, or they would begin in the places of the others.
    mutating func pauseAll() -> [Action] {
        (ids.filter { phase(of: $0) == .waiting } + ids).flatMap { pause($0) }
    }

    mutating func resume(_ id: String) -> [Action] {
        guard var entry = entries[id], entry.phase == .paused || entry.phase == .failed else { return [] }
        wait(&entry)
        set(id, entry)
        return admit()
    }

    /// All that are paused, in the order in which they came.
    mutating func resumeAll() -> [Action] {
        ids.filter { phase(of: $0) == .paused }.flatMap { resume($0) }
    }

    mutating func cancel(_ id: String, keeping: Bool) -> [Action] {
        guard var entry = entries[id], entry.phase.mayGoOn, !entry.isUnwanted else { return [] }
        // Of what came before it was asked for again nothing stays.
        entry.keeps = keeping && !entry.owes
        guard entry.run != .landing else {
            entry.isUnwanted = true
            set(id, entry)
            return [keeping ? .erase(id) : .record(id)]
        }
        return cancel(id, &entry)
    }

    /// Cancels a transfer that isn't done, and forgets it.
    mutating func remove(_ id: String, keeping: Bool) -> [Action] {
        guard var entry = entries[id], !entry.isLeaving else { return [] }
        entry.isLeaving = true
        guard entry.phase.mayGoOn else {
            set(id, entry.run == .none ? nil : entry)
            return []
        }
        entry.keeps = keeping && !entry.owes
        return cancel(id, &entry)
    }

    /// Lets it end, and what has come be removed. What is to be removed is known until it has been, also by those who
    /// come after the end of the process.
    private mutating func cancel(_ id: String, _ entry: inout Entry) -> [Action] {
        entry.phase = .cancelled
        entry.owes = !entry.keeps
        var actions = [entry.keeps ? Action.erase(id) : .record(id)]
        switch entry.run {
        case .alive, .landing:
            entry.run = .ending
            actions.append(.stop(id))
        case .none where entry.owes:
            entry.run = .discarding
            actions.append(.discard(id))
        case .none, .ending, .discarding: break
        }
        set(id, entry.isLeaving && entry.run == .none ? nil : entry)
        return actions + admit()
    }

    mutating func prioritize(_ id: String, _ priority: TransferPriority) -> [Action] {
        guard var entry = entries[id] else { return [] }
        entry.priority = priority
        change(id, entry)
        return entry.phase.mayGoOn ? [.record(id)] : []
    }

    // MARK: What happens

    /// A task is about to put its file into its place. Returns whether it may: it does then, whatever is asked for.
    mutating func land(_ id: String) -> Bool {
        guard var entry = entries[id], entry.run == .alive else { return false }
        entry.run = .landing
        change(id, entry)
        return true
    }

    /// A task has ended, or what has come was removed.
    ///
    /// - Parameter keeping: Whether what has come stays if nobody here has asked for a cancel.
    mutating func end(_ id: String, _ ending: Ending, keeping: Bool = false) -> [Action] {
        guard var entry = entries[id] else { return [] }
        var actions: [Action] = []
        switch (entry.run, ending) {
        case (.none, _): return []
        case (.alive, .success), (.landing, .success):
            entry.phase = .finished
            entry.run = .none
            actions = [.erase(id)]
        case (.alive, .failure),
            (.landing, .failure) where !entry.isUnwanted:
            // What was written down as it landed isn't so.
            if entry.run == .landing { actions = [.record(id)] }
            entry.phase = .failed
            entry.run = .none
        case (.alive, _), (.landing, _):
            // Asked for as it landed, or by nobody here.
            entry.run = .none
            entry.keeps = entry.isUnwanted ? entry.keeps : keeping
            actions = cancel(id, &entry)
        case (.ending, _) where entry.owes && ending != .success:
            entry.run = .discarding
            actions = [.discard(id)]
        case (.ending, _), (.discarding, _):
            entry.run = .none
            actions = entry.phase.mayGoOn ? (entry.owes ? [.record(id)] : []) : [.erase(id)]
            entry.owes = false
        }
        entry.isUnwanted = false
        set(id, entry.isLeaving && entry.run == .none ? nil : entry)
        return actions + admit()
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

    /// Lets those begin for whom there is a place.
    private mutating func admit() -> [Action] {
        var actions: [Action] = []
        while running < width, let id = line.next(), var entry = entries[id] {
            let begins = entry.run == .none
            entry.phase = .running
            if begins { entry.run = .alive }
            set(id, entry)
            actions.append(begins ? .start(id) : .release(id))
        }
        return actions
    }
}
