/// The primitives with which this package starts unstructured tasks and suspends. They stay on the caller's actor, and
/// contain all hooks for the test kit.
///
/// Async functions without an actor run on their caller's actor in this package (`NonisolatedNonsendingByDefault`).
@usableFromInline package enum LibraryTask {
    /// The executor that every unstructured task of this package prefers. A test kit sets it to choose the order of tasks
    /// or to detect quiescence.
    @TaskLocal package static var executor: (any TaskExecutor)?

    /// Starts work on the caller's actor: in this turn where the platform supports that, otherwise in a later turn.
    ///
    /// Work that is started inside a handler always starts in a later turn: tasks that start at once nest on the stack,
    /// and a handler that calls again, whose handler calls again, would overflow it.
    ///
    /// So does work on no actor. At once, it would run on the caller's thread, which may belong to an actor: the runtime
    /// would treat that thread as one of the pool, and `@concurrent` functions would not leave it. Two pieces of work
    /// would also run one after the other up to their first suspensions.
    @discardableResult
    static func start(
        _ work: some TaskWork, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        launch(work, isLater: isolation == nil || HandlerContext.isInsideHandler(on: isolation), isolation: isolation)
    }

    private static func launch(
        _ work: some TaskWork, isLater: Bool, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        guard let executor = preferred ?? work.executor else {
            return launchUnpreferred(work, isLater: isLater, watch: nil, isolation: isolation)
        }
        // Bound, so that tasks that the work starts prefer the executor too.
        return $executor.withValue(executor) {
            guard takesNoOther(isolation) else {
                return launch(work, isLater: isLater, on: executor, isolation: isolation)
            }
            let watch = executor as? any ActivityTracker
            // A tracker checks the main actor by itself.
            if let isolation, isolation !== MainActor.shared { watch?.activityStarts(on: isolation) }
            return launchUnpreferred(work, isLater: isLater, watch: watch, isolation: isolation)
        }
    }

    /// True if an actor has a custom executor, as the main actor does. A task on it that prefers another executor would
    /// go to the end of its queue at each `await`, unseen by a tracker, and tasks could overtake each other.
    static func takesNoOther(_ isolation: (any Actor)?) -> Bool {
        guard let isolation, isolation !== MainActor.shared else { return isolation != nil }
        #if compiler(>=6.3)
        if #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *),
            let executor = isolation.unownedExecutor.asSerialExecutor()
        {
            // Of an actor without an executor of its own that is the actor, which isn't one: all that can be asked of
            // it is who it is. Not what it is: the optimizer knows that by its type.
            return executor as AnyObject !== isolation || isolation is any SerialExecutor
        }
        #endif
        return false
    }

    private static func launch(
        _ work: some TaskWork, isLater: Bool, on executor: any TaskExecutor, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        let watch = executor as? any ActivityTracker
        if let isolation { watch?.activityStarts(on: isolation) }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), !isLater {
            return Task.immediate(executorPreference: executor) {
                _ = isolation
                await work.perform()
            }
        }
        guard isolation != nil, let watch, !watch.ordersWork else {
            return Task(executorPreference: executor) { await work.perform(on: isolation) }
        }
        // A task that is given an executor starts there, on no actor, and on the way to one tasks could overtake each
        // other. So it is given that once it is there.
        watch.beginActivity()
        return Task {
            _ = isolation
            await withTaskExecutorPreference(watch) {
                _ = isolation
                watch.endActivity()
                await work.perform()
            }
        }
    }

    /// - Parameter watch: The tracker, which doesn't see the work before it runs.
    private static func launchUnpreferred(
        _ work: some TaskWork, isLater: Bool, watch: (any ActivityTracker)?, isolation: isolated (any Actor)?
    ) -> Task<Void, Never> {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), !isLater else {
            watch?.beginActivity()
            return Task {
                // Captured, or the task doesn't start on the caller's actor.
                _ = isolation
                watch?.endActivity()
                await work.perform()
            }
        }
        // A loop that runs once: inside of one, the optimizer inlines `Task.immediate`. Out of line it gives each task
        // a record of the executor that it does not prefer, which every change of actors then has to look at.
        var task: Task<Void, Never>?
        while task == nil {
            task = Task.immediate {
                _ = isolation
                await work.perform()
            }
        }
        return task!
    }

    /// Starts a closure as ``start(_:isolation:)`` starts work, with the actor that it runs on.
    ///
    /// - Parameter clock: The clock that the closure waits for, if it does.
    @discardableResult
    package static func start(
        clock: (any Clock<Duration>)? = nil, isolation: isolated (any Actor)?,
        _ body: @escaping @Sendable (isolated (any Actor)?) async -> Void
    ) -> Task<Void, Never> {
        start(ClosureWork(executor: (clock as? any TrackedClock)?.workload, body: body), isolation: isolation)
    }

    /// Creates a task that starts later, with the task-local values of the caller. Returns nil where tasks prefer an
    /// executor, which has to see each of them start.
    static func deferred(
        executor: (any TaskExecutor)?, _ work: @escaping @Sendable () async -> Void
    ) -> DeferredTask? {
        preferred ?? executor == nil ? DeferredTask(work) : nil
    }

    /// Starts a closure in this turn where the platform can, also on no actor, and so on the caller's thread: for what
    /// soon waits, as for a clock.
    ///
    /// - Parameter clock: The clock that the closure waits for, if it does.
    @discardableResult
    package static func startAtOnce(
        clock: (any Clock<Duration>)? = nil, isolation: isolated (any Actor)?,
        _ body: @escaping @Sendable (isolated (any Actor)?) async -> Void
    ) -> Task<Void, Never> {
        let work = ClosureWork(executor: (clock as? any TrackedClock)?.workload, body: body)
        return launch(work, isLater: HandlerContext.isInsideHandler(on: isolation), isolation: isolation)
    }

    /// Starts a closure on no actor, in a later turn.
    @discardableResult
    package static func startLater(
        _ body: @escaping @Sendable (isolated (any Actor)?) async -> Void
    ) -> Task<Void, Never> {
        launch(ClosureWork(executor: nil, body: body), isLater: true, isolation: nil)
    }
}

/// The work of a task. A type instead of a closure, which costs an allocation.
protocol TaskWork: Sendable {
    /// The executor that the work prefers where ``LibraryTask/executor`` is nil.
    var executor: (any TaskExecutor)? { get }

    func perform() async
}

extension TaskWork {
    var executor: (any TaskExecutor)? { nil }

    /// Performs on an actor. A task that is given an executor starts on no actor, whatever it captures.
    fileprivate func perform(on isolation: isolated (any Actor)?) async {
        await perform()
    }
}

private struct ClosureWork: TaskWork {
    var executor: (any TaskExecutor)?
    let body: @Sendable (isolated (any Actor)?) async -> Void

    func perform() async {
        await body(#isolation)
    }
}
