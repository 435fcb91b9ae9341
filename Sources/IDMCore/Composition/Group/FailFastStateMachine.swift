/// Decides when the tasks of a group are cancelled: the first failure, or a cancel from outside, closes the group. An
/// event returns the tasks to cancel, outside of the lock.
struct FailFastStateMachine {
    private enum State {
        /// No failure and no cancel so far. Holds the tasks to cancel if one comes.
        case open([any CancellableTask])
        /// A member has failed, or the group was cancelled.
        case closed(failure: (any Error)?)
    }

    private var state = State.open([])
    private var runningCount: Int
    /// True if a task waits until all members have ended.
    private(set) var isAwaited = false

    init(count: Int) {
        runningCount = count
    }

    /// The first failure, if there is one.
    var failure: (any Error)? {
        if case .closed(let failure) = state { failure } else { nil }
    }

    /// True if there has been no failure and no cancel.
    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// All members have been started as `tasks`. Returns whether these must be cancelled at once.
    mutating func add(_ tasks: [any CancellableTask]) -> Bool {
        guard isOpen else { return true }
        state = .open(tasks)
        return false
    }

    /// A task waits until all members have ended, unless they have.
    mutating func await() {
        isAwaited = runningCount > 0
    }

    /// A member has ended. Returns whether it was the last one, and a task waits for it.
    mutating func end() -> Bool {
        runningCount -= 1
        return isAwaited && runningCount == 0
    }

    /// A member has failed the group. Returns the tasks to cancel.
    mutating func fail(_ error: any Error) -> [any CancellableTask] {
        close(failure: failure ?? error)
    }

    /// The group is cancelled from outside. Returns the tasks to cancel.
    mutating func cancel() -> [any CancellableTask] {
        close(failure: failure)
    }

    private mutating func close(failure: (any Error)?) -> [any CancellableTask] {
        defer { state = .closed(failure: failure) }
        if case .open(let tasks) = state { return tasks }
        return []
    }
}

/// A task that can be cancelled, whatever its result is.
@usableFromInline
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}
