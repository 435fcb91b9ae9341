import Synchronization

/// A test kit's executor that detects when the tasks on it are quiescent. See ``LibraryTask/executor``.
package protocol ActivityTracker: TaskExecutor {
    /// True once tasks prefer this executor. Before that, they start as they do without one.
    var isTracking: Bool { get }

    /// True if the executor runs tasks in an order that it chooses. Otherwise, tasks of one actor run in the order in
    /// which they were started.
    var ordersWork: Bool { get }

    /// Notes an event that the executor can't see: a task starts on an actor by itself, or a suspended task resumes.
    func noteActivity()

    /// Begins a period in which a task runs or resumes where the executor can't see it. Balance with ``endActivity()``.
    func beginActivity()
    func endActivity()

    /// Notes that a task starts on an actor other than the main actor. Other tasks on that actor start the jobs that wait
    /// for it, and the executor doesn't see that.
    func activityStarts(on actor: any Actor)
}

/// A continuation that begins an activity of the suspended task's tracker when it is resumed.
///
/// The task ends the activity once it runs: a resumed task goes through the concurrent pool, also to the main actor, where
/// the tracker can't see it.
package struct TrackedContinuation<Value: Sendable, Failure: Error>: Sendable {
    private let base: UnsafeContinuation<Value, Failure>
    private let watch: (any ActivityTracker)?

    init(_ base: UnsafeContinuation<Value, Failure>, _ watch: (any ActivityTracker)?) {
        self.base = base
        self.watch = watch
    }

    package func resume(with result: Result<Value, Failure>) {
        watch?.beginActivity()
        base.resume(with: result)
    }

    package func resume(returning value: Value) { resume(with: .success(value)) }
    package func resume(throwing error: Failure) { resume(with: .failure(error)) }
    package func resume() where Value == Void { resume(with: .success(())) }
}

/// A test kit's clock, which advances when all tasks are quiescent. Tasks that wait for it prefer its executor.
package protocol TrackedClock: Sendable {
    var workload: any ActivityTracker { get }

    /// Sleeps without leaving the caller's actor.
    ///
    /// Named differently from `Clock.sleep(for:)`, which would satisfy this requirement by accident.
    func pause(for duration: Duration) async throws
}

extension LibraryTask {
    /// True once a test kit's executor has been used in this process. Until then, the task-local isn't read.
    static let isWatched = Atomic(false)

    /// The executor of the task-local, if tasks prefer it now.
    static var preferred: (any TaskExecutor)? {
        guard let executor else { return nil }
        guard let watch = executor as? any ActivityTracker else { return executor }
        return watch.isTracking ? executor : nil
    }

    /// Turns tracking on. Call it before a tracker is bound: a suspension reads the tracker twice, and both reads have to
    /// return the same one.
    package static func beginTracking() {
        isWatched.store(true, ordering: .releasing)
    }

    /// The tracker of the current task.
    package static var watch: (any ActivityTracker)? {
        guard isWatched.load(ordering: .relaxed) else { return nil }
        return executor as? any ActivityTracker
    }

    /// Notes that a suspended task is about to resume.
    package static func noteActivity() {
        watch?.noteActivity()
    }

    /// Begins an activity of the current task on another actor, where its tracker can't see it.
    ///
    /// - Returns: The tracker, on which the caller ends the activity.
    package static func beginActivity() -> (any ActivityTracker)? {
        let watch = watch
        watch?.beginActivity()
        return watch
    }

    /// Runs code on an actor, and tracks it for a test kit: it can't see the actor's jobs.
    ///
    /// - Parameter actor: The actor. Pass nil for code that runs on none.
    @inline(__always)
    static func run<Value: Sendable>(
        on actor: (any Actor)?, _ work: (isolated (any Actor)?) async -> Value
    ) async -> Value {
        let watch = beginActivity()
        defer { watch?.endActivity() }
        return await work(actor)
    }

    /// Yields to other tasks, by way of the concurrent pool, also on the main actor.
    package static func yield() async {
        let tracker = beginActivity()
        await Task.yield()
        tracker?.endActivity()
    }

    /// Runs work on no actor, on the current task's tracker. A task of the main actor prefers no executor, so the tracker
    /// wouldn't see its work on the concurrent pool.
    ///
    /// For work that may suspend, and is quiescent then. For other work, use ``beginActivity()``.
    package static func elsewhere<Value>(
        isolation: isolated (any Actor)? = #isolation, _ work: @concurrent @Sendable () async throws -> sending Value
    ) async throws -> sending Value {
        guard let watch, watch.isTracking else { return try await work() }
        return try await withTaskExecutorPreference(watch) { try await work() }
    }

    /// Suspends the task until its continuation is resumed.
    @inline(__always)
    package static func wait<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (TrackedContinuation<Value, Never>) -> Void
    ) async -> Value {
        // The tracker is read again afterwards instead of stored: thousands of tasks may be suspended here, and each
        // keeps its frame.
        let value = await withUnsafeContinuation { body(TrackedContinuation($0, watch)) }
        watch?.endActivity()
        return value
    }

    /// Suspends the task until its continuation is resumed with a value or an error.
    ///
    /// - Parameter watch: The tracker, if it isn't that of the current task.
    @inline(__always)
    package static func waitThrowing<Value: Sendable>(
        watch: (any ActivityTracker)? = watch, isolation: isolated (any Actor)? = #isolation,
        _ body: (TrackedContinuation<Value, any Error>) -> Void
    ) async throws -> Value {
        defer { watch?.endActivity() }
        return try await withUnsafeThrowingContinuation { body(TrackedContinuation($0, watch)) }
    }
}
