import Synchronization

/// An executor of a test kit that knows when the work given to it is at rest. See ``LibraryTask/executor``.
package protocol ActivityTracker: TaskExecutor {
    /// Whether tasks are to prefer this executor already. Until then they start as they do without one.
    var isTracking: Bool { get }

    /// Whether what is given to this executor runs in an order of its own. If not, tasks of one actor are to run in
    /// that in which they were started.
    var ordersWork: Bool { get }

    /// Something is about to happen where the executor can't see it: a task starts on an actor of its own accord, or
    /// one that waits is let go on.
    func noteActivity()

    /// A task is on its way to where it goes on. To be met by one ``endActivity()``.
    func beginActivity()
    func endActivity()

    /// Work starts on an actor other than the main one. If others are on it as well, they let what waits for it go on,
    /// and the executor doesn't see that.
    func activityStarts(on actor: any Actor)
}

/// A continuation that tells whoever watches the task that waits when it is let go on.
///
/// The task may be on its way for a while: what was let go on comes by way of the pool also to the main actor, where no
/// watching executor sees it.
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

/// A clock of a test kit, which moves when nothing is left to do. What is started for its sake goes to its executor.
package protocol TrackedClock: Sendable {
    var workload: any ActivityTracker { get }

    /// Sleeps without leaving the caller's actor.
    ///
    /// Not named as a method of the standard library's clocks is: that would be taken for this one where it is missing.
    func pause(for duration: Duration) async throws
}

extension LibraryTask {
    /// Whether anybody has ever watched in this process. Where nobody does, nobody has to look for the task-local.
    private static let isWatched = Atomic(false)

    /// The executor that a task started now prefers by the task-local.
    static var preferred: (any TaskExecutor)? {
        guard let executor else { return nil }
        guard let watch = executor as? any ActivityTracker else { return executor }
        return watch.isTracking ? executor : nil
    }

    /// Somebody watches from now on. To be told before an executor that watches is bound: whoever waits looks for it
    /// twice, and has to find the same one.
    package static func beginTracking() {
        isWatched.store(true, ordering: .releasing)
    }

    /// Whoever watches the caller.
    package static var watch: (any ActivityTracker)? {
        guard isWatched.load(ordering: .relaxed) else { return nil }
        return executor as? any ActivityTracker
    }

    /// Tells whoever watches the caller that something which waited is about to go on.
    package static func noteActivity() {
        watch?.noteActivity()
    }

    /// Tells whoever watches the caller that it is about to be where it isn't seen: on another actor than its own. The
    /// caller tells when it is back.
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

    /// Lets others go on. By way of the pool, also on the main actor.
    package static func yield() async {
        let trip = beginActivity()
        await Task.yield()
        trip?.endActivity()
    }

    /// Does work on no actor, where whoever watches the caller sees it. A task of the main actor prefers no executor,
    /// and the pool would do its work unseen.
    ///
    /// For work that may wait for others, and is at rest then. What doesn't is a trip of ``beginActivity()``.
    package static func elsewhere<Value>(
        isolation: isolated (any Actor)? = #isolation, _ work: @concurrent @Sendable () async throws -> sending Value
    ) async throws -> sending Value {
        guard let watch, watch.isTracking else { return try await work() }
        return try await withTaskExecutorPreference(watch) { try await work() }
    }

    /// Waits to be let go on.
    @inline(__always)
    package static func wait<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (TrackedContinuation<Value, Never>) -> Void
    ) async -> Value {
        // Looked up once more afterwards, and not kept meanwhile: thousands wait here, and keep the frames that they
        // are in.
        let value = await withUnsafeContinuation { body(TrackedContinuation($0, watch)) }
        watch?.endActivity()
        return value
    }

    /// Waits to be let go on, or to be thrown an error.
    ///
    /// - Parameter watch: Who is to know of it, if it isn't whoever watches the caller.
    @inline(__always)
    package static func waitThrowing<Value: Sendable>(
        watch: (any ActivityTracker)? = watch, isolation: isolated (any Actor)? = #isolation,
        _ body: (TrackedContinuation<Value, any Error>) -> Void
    ) async throws -> Value {
        defer { watch?.endActivity() }
        return try await withUnsafeThrowingContinuation { body(TrackedContinuation($0, watch)) }
    }
}
