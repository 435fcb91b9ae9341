/// A task that is created with the task-local values of its creator, and starts later.
///
/// For work that runs in place of another task, but has to see the same task-local values: the runtime copies them only
/// when a task is created.
///
/// An actor, so that its executor keeps the first job of the task. A task executor could keep that too, but a task that
/// prefers an executor suspends before and after each handler on the main actor, and other code would run in between.
actor DeferredTask: SerialExecutor {
    private enum State {
        case created
        case waiting(UnownedJob)
        /// Jobs are kept, for a thread that runs them on an actor.
        case starting
        case started
    }

    private let state = Locked(State.created)

    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    init(_ work: @escaping @Sendable () async -> Void) {
        assumeIsolated { actor in
            _ = Task {
                // Captured, or the task doesn't start on this actor.
                _ = actor
                await work()
            }
        }
    }

    /// Starts the work: on the caller's actor in this turn; without one, or inside a handler, on the concurrent pool.
    /// Starting it twice does nothing.
    ///
    /// - Parameter actor: The actor that the caller runs on, if the work is to run there in this turn.
    nonisolated func start(on actor: (any Actor)? = nil) {
        guard let actor, !HandlerContext.isInsideHandler(on: actor) else {
            if let job = takeJob(then: .started) { globalConcurrentExecutor.enqueue(job) }
            return
        }
        // The task enters this actor with its closure, and the caller's for the handlers. Its jobs run here until it
        // suspends.
        while let job = takeJob(then: .starting) { job.runSynchronously(on: actor.unownedExecutor) }
    }

    /// Starts the work on this thread, up to its first suspension: for work that returns at once because it is not needed.
    nonisolated func discard() {
        takeJob(then: .started)?.runSynchronously(on: unownedExecutor)
    }

    private nonisolated func takeJob(then next: State) -> UnownedJob? {
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
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
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

    /// Does nothing: the initializer creates the task as if it ran on this actor.
    nonisolated func checkIsolated() {}
}
