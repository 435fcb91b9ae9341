/// A task that is created with the task-local values of its creator, and starts later.
///
/// For work that runs in place of another task, but has to see the same task-local values: the runtime copies them only
/// when a task is created.
final class DeferredTask: TaskExecutor {
    private enum State {
        case created
        case waiting(UnownedJob)
        /// Jobs are kept, for a thread that runs them on an actor.
        case starting
        case started
    }

    private let state = Locked(State.created)

    init(_ work: @escaping @Sendable () async -> Void) {
        Task(executorPreference: self, operation: work)
    }

    /// Starts the work: on the caller's actor in this turn; without one, or inside a handler, on the concurrent pool. Starting it twice does
    /// nothing.
    ///
    /// - Parameter actor: The actor that the caller runs on, if the work is to run there in this turn.
    func start(on actor: (any Actor)? = nil) {
        guard let actor, !HandlerContext.isInsideHandler(on: actor) else {
            if let job = takeJob(then: .started) { globalConcurrentExecutor.enqueue(job) }
            return
        }
        // The task leaves the actor as it enters its closure, and comes back to it for the handlers. Its jobs run here
        // until it suspends.
        while let job = takeJob(then: .starting) {
            job.runSynchronously(isolatedTo: actor.unownedExecutor, taskExecutor: asUnownedTaskExecutor())
        }
    }

    /// Starts the work on this thread, up to its first suspension: for work that returns at once because it is not needed.
    func discard() {
        takeJob(then: .started)?.runSynchronously(on: asUnownedTaskExecutor())
    }

    private func takeJob(then next: State) -> UnownedJob? {
        state.withLock { state in
            guard case .waiting(let job) = state else {
                if case .starting = state { state = .started }
                return nil
            }
            state = next
            return job
        }
    }

    /// Keeps the job until the task is started. Later jobs run on the concurrent pool.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = state.withLock { state in
            switch state {
            case .created, .starting:
                state = .waiting(job)
                return true
            case .waiting, .started:
                return false
            }
        }
        if !isKept { globalConcurrentExecutor.enqueue(job) }
    }
}
