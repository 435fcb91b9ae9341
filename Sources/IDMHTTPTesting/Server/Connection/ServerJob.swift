import IDMCore

/// A job of the server thread that runs in a task, and that the thread can cancel.
final class ServerJob: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let work: @Sendable () async -> Void
    private let state = Locked(State())

    init(_ work: @escaping @Sendable () async -> Void) {
        self.work = work
    }

    /// Starts the task with the caller's task-locals. A cancelled job starts as well: its end is awaited.
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
