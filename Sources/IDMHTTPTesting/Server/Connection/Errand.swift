import IDMCore

/// What the thread of a server wants done in a task that it can't start itself, but can cancel.
final class Errand: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let work: @Sendable () async -> Void
    private let state = Locked(State())

    init(_ work: @escaping @Sendable () async -> Void) {
        self.work = work
    }

    /// Starts the task, with what is bound where this is called. One that was cancelled before is started all the same:
    /// somebody waits for its end.
    func start(preferring executor: (any TaskExecutor)?) {
        let task = Task(executorPreference: executor) { [work] in await work() }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
