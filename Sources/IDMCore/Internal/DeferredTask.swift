/// A task that is created with the task-local values of its creator, and starts later.
///
/// For work that runs in place of another task, but has to see the same task-local values: the runtime copies them only
/// when a task is created.
final class DeferredTask: TaskExecutor {
    private enum State {
        case created
        case waiting(UnownedJob)
        case started
    }

    private let state = Locked(State.created)

    init(_ work: @escaping @Sendable () async -> Void) {
        Task(executorPreference: self, operation: work)
    }

    /// Starts the work on the concurrent pool. Starting it twice does nothing.
    func start() {
        if let job = takeJob() { globalConcurrentExecutor.enqueue(job) }
    }

    /// Starts the work on this thread, up to its first suspension: for work that returns at once because it is not needed.
    func discard() {
        takeJob()?.runSynchronously(on: asUnownedTaskExecutor())
    }

    private func takeJob() -> UnownedJob? {
        state.withLock { state in
            guard case .waiting(let job) = state else { return nil }
            state = .started
            return job
        }
    }

    /// Keeps the first job of the task, and runs later ones on the concurrent pool.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            guard case .created = state else { return false }
            state = .waiting(job)
            return true
        }
        if !isFirst { globalConcurrentExecutor.enqueue(job) }
    }
}
