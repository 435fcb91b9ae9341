public import IDMCore

/// A clock whose time moves only when the test moves it.
///
/// It is a clock for everything in the library that takes time: debounces, delays, retries and time-outs.
///
/// ```swift
/// let clock = ManualClock()
/// let search = Integrator(provider, executing: .latest(debounce: .milliseconds(300)), clock: clock)
/// search.prepareCall("a").call()
/// await clock.advance(by: .milliseconds(300))
/// ```
///
/// ``advance(by:isolation:)`` and ``run(isolation:)`` first wait until the work of the library is at rest: the calls of
/// integrators with this clock, and, for a clock that is made in a ``TestScope``, all work that is started in that scope
/// from then on, on any actor. Work is at rest when it sleeps on this clock, waits for its turn, or waits for the test,
/// as a request of a ``ControlledDataProvider`` does. Then the time moves from one sleeper to the next, with such a wait
/// after each.
///
/// The clock can't know of this work, and doesn't wait for it:
/// - Work of your provider outside of its caller's actor, for calls that are made on the main actor or on an actor with
///   a custom executor. An `async` function leaves the actor if it is compiled without the feature
///   `NonisolatedNonsendingByDefault` and isn't `nonisolated(nonsending)`, if it is `@concurrent`, and where it calls
///   `Task.yield()`, `withTaskCancellationHandler`, `withValue` of a task-local, or sleeps on `any Clock`.
/// - Actors with a custom executor, and actors that are busy with work of other tasks.
/// - Tasks of yours, unless they are started with ``executor``. Wait for those with
///   ``waitForSleepers(_:within:fileID:filePath:line:column:)``.
/// - Calls with this clock in a scope in which another clock was made, unless the time is moved in that scope.
///
/// While a clock tracks them, calls on no actor, or on an actor of yours, are not delivered before `call()` returns, but
/// in the next turns and in the same order. A wait for rest has no time limit, and ends early when its task is cancelled.
public final class ManualClock: Clock, TrackedClock {
    /// A point in time, as an offset from the start of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the start of the clock.
        public let offset: Duration

        /// Makes a point in time.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// Returns a later point. The result saturates.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: Duration(attoseconds: offset.attoseconds.addingSaturating(duration.attoseconds)))
        }

        /// Returns the duration to another point. The result saturates.
        public func duration(to other: Instant) -> Duration {
            Duration(attoseconds: other.offset.attoseconds.subtractingSaturating(offset.attoseconds))
        }

        /// Returns whether the first point is earlier.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: TrackedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// The target of all moves so far.
        var end = Instant(offset: .zero)
        /// Sorted by descending deadline; of equal deadlines the earliest sleeper is the last.
        private(set) var sleepers: [Sleeper] = []
        var lastSleeper = 0

        mutating func add(_ sleeper: Sleeper) {
            var (low, high) = (0, sleepers.count)
            while low < high {
                let middle = (low + high) / 2
                if sleepers[middle].deadline > sleeper.deadline { low = middle + 1 } else { high = middle }
            }
            sleepers.insert(sleeper, at: low)
        }

        mutating func remove(_ id: Int) -> Sleeper? {
            sleepers.firstIndex { $0.id == id }.map { sleepers.remove(at: $0) }
        }

        /// Removes the sleeper with the earliest deadline, if that isn't later than the end.
        mutating func takeNext(until end: Instant?) -> Sleeper? {
            guard let next = sleepers.last, next.deadline <= end ?? next.deadline else { return nil }
            return sleepers.removeLast()
        }
    }

    private let state = Observed(State())
    /// Tasks that move the time, one by one.
    private let movers = TurnQueue()
    private let collector = FailureCollector.current
    package let workload: any ActivityTracker

    /// Makes a clock.
    public init() {
        let workload = TestScope.current?.workload ?? QuiescenceTracker()
        workload.beginTracking()
        self.workload = workload
    }

    /// The executor for tasks of yours that this clock should know of.
    ///
    /// ```swift
    /// Task(executorPreference: clock.executor) { try await poller.run(on: clock) }
    /// ```
    ///
    /// In an exploration use the executor of its body instead: this one takes tasks out of the seed's order.
    public var executor: any TaskExecutor { workload }

    /// The current time.
    public var now: Instant { state.value.now }

    /// Zero: every duration counts.
    public var minimumResolution: Duration { .zero }

    // MARK: Sleepers

    /// Sleeps until the test has moved the time to the deadline. Throws `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.change { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await LibraryTask.reactingToCancel {
            try await LibraryTask.waitThrowing(watch: workload) { continuation in
                let answer: Result<Void, any Error>? = state.change { state in
                    // Under the lock: a later cancel finds the sleeper.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.add(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let sleeper = state.change { $0.remove(id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Sleeps for a duration. See ``sleep(until:tolerance:)``.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        // The method of the standard library leaves the caller's actor, where this clock can't track the task.
        try await pause(for: duration)
    }

    package func pause(for duration: Duration) async throws {
        try await sleep(until: now.advanced(by: duration))
    }

    /// The remaining duration of each sleeper, shortest first.
    public var remaining: [Duration] {
        let state = state.value
        return state.sleepers.reversed().map { state.now.duration(to: $0.deadline) }
    }

    /// Waits until a number of tasks sleep on this clock.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForSleepers(
        _ count: Int, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.wait(for: count, in: state, at: place, within: limit, counted: \.sleepers.count) {
            "Expected \(count.of("sleeper")), and \($0) came"
        }
    }

    /// Waits until no task sleeps on this clock.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForNoSleepers(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.wait(for: state, at: place, within: limit, until: \.sleepers.isEmpty) {
            $0.sleepers.isEmpty ? nil : "Expected no sleepers, and \($0.sleepers.count.of("sleeper")) stayed"
        }
    }

    // MARK: The time

    /// Moves the time by a duration, and returns when the work that this causes is at rest.
    ///
    /// Sleepers wake one by one, at their own time, in the order of their deadlines, and in the order of their arrival
    /// for equal deadlines. Work that a sleeper starts may sleep and become due as well. Several tasks that move the
    /// time take turns: a second for each of two tasks is two seconds.
    ///
    /// If the task is cancelled, the time still moves and wakes sleepers, but nothing is waited for.
    ///
    /// - Parameters:
    ///   - duration: How far the time moves. A negative duration counts as zero.
    ///   - isolation: The caller's actor. Leave it out.
    public func advance(by duration: Duration, isolation: isolated (any Actor)? = #isolation) async {
        await movers.inTurn {
            let end = state.change { state in
                state.end = max(state.now, state.end).advanced(by: max(duration, .zero))
                return state.end
            }
            await rest(isolation: isolation)
            while wakeNext(until: end) { await rest(isolation: isolation) }
        }
    }

    /// Moves the time from sleeper to sleeper, until all work is at rest and no task sleeps.
    ///
    /// Work that sleeps again and again keeps this running until the task is cancelled.
    ///
    /// - Parameter isolation: The caller's actor. Leave it out.
    public func run(isolation: isolated (any Actor)? = #isolation) async {
        await movers.inTurn {
            await rest(isolation: isolation)
            while !Task.isCancelled, wakeNext() { await rest(isolation: isolation) }
        }
    }

    /// Waits until the work of the library is at rest, without moving the time.
    ///
    /// - Parameter isolation: The caller's actor. Leave it out.
    public func rest(isolation: isolated (any Actor)? = #isolation) async {
        let watched = [workload, LibraryTask.executor].compactMap { $0 as? any TrackedWork }
        guard let resters = watched.lazy.compactMap(\.resters).first else {
            return await QuiescenceTracker.rest(of: watched, isolation: isolation)
        }
        await resters.inTurn { await QuiescenceTracker.rest(of: watched, isolation: isolation) }
        for work in watched { work.restWasTold() }
    }

    /// True if all work that this clock knows of is at rest right now.
    package var isAtRest: Bool { (workload as? any TrackedWork)?.turnsAtRest != nil }

    /// Wakes one sleeper, at its time. One at a time: two tasks that are resumed together may overtake each other.
    /// Returns false, with the time moved to the end, if no task sleeps until then.
    private func wakeNext(until end: Instant? = nil) -> Bool {
        let sleeper: Sleeper? = state.change { state in
            let next = state.takeNext(until: end)
            // In one step: a task that goes to sleep in between would miss its time.
            if let time = next?.deadline ?? end { state.now = max(state.now, time) }
            return next
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }
}
