/// How it goes with requests that run side by side: how many still run, and whether they have failed or were cancelled
/// together. What comes out of an event is the tasks to be cancelled, outside of the lock.
struct FailFastStateMachine {
    private enum State {
        /// Nothing has gone wrong. The tasks are those that may have to be cancelled.
        case open([any CancellableTask])
        /// One has failed, or all were cancelled.
        case over(failure: (any Error)?)
    }

    private var state = State.open([])
    private var runningCount = 0
    /// Whether somebody waits until all have ended.
    private(set) var isAwaited = false

    /// The first failure, if there is one.
    var failure: (any Error)? {
        if case .over(let failure) = state { failure } else { nil }
    }

    /// Whether all that were started have answered.
    var isFulfilled: Bool { isOpen && runningCount == 0 }

    private var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether the next end is the last one, and somebody waits for that.
    var isNextAwaited: Bool { isAwaited && runningCount == 1 }

    /// All have been started, and somebody waits until all have ended, unless they have.
    mutating func await() {
        isAwaited = runningCount > 0
    }

    /// One is about to start. False if it is too late to ask its provider: its task counts as cancelled already.
    mutating func start() -> Bool {
        if isOpen { runningCount += 1 }
        return isOpen
    }

    /// One has started in this task. True if the task is to be cancelled at once.
    mutating func add(_ task: any CancellableTask) -> Bool {
        guard case .open(var tasks) = state else { return true }
        // All that were started have ended, this one among them.
        guard runningCount > 0 else { return false }
        state = .open([])
        if tasks.isEmpty { tasks.reserveCapacity(4) }
        tasks.append(task)
        state = .open(tasks)
        return false
    }

    /// One has ended, and not with a failure of all.
    mutating func end() {
        runningCount -= 1
    }

    /// One has failed, and with it all.
    mutating func fail(_ error: any Error) -> [any CancellableTask] {
        runningCount -= 1
        return finish(failure: failure ?? error)
    }

    /// All are cancelled from outside.
    mutating func cancel() -> [any CancellableTask] {
        finish(failure: failure)
    }

    private mutating func finish(failure: (any Error)?) -> [any CancellableTask] {
        defer { state = .over(failure: failure) }
        if case .open(let tasks) = state { return tasks }
        return []
    }
}

/// A task of which only that it can be cancelled is known.
@usableFromInline
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}
