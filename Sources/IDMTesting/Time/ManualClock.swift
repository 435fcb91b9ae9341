public import IDMCore

/// A clock that stands still until the test moves it.
///
/// It is good as the clock of everything in the library that takes time: debounces, delays, retries and time-outs.
///
/// ```swift
/// let clock = ManualClock()
/// let search = Integrator(provider, executing: .latest(debounce: .milliseconds(300)), clock: clock)
/// search.prepareCall("a").call()
/// await clock.advance(by: .milliseconds(300))
/// ```
///
/// ``advance(by:isolation:)`` and ``run(isolation:)`` first wait until everything that the library has started is at
/// rest: the calls of integrators that have this clock, and, for a clock made inside of a ``TestScope``, whatever is
/// started in that scope from then on, with handlers on any actor and models made anywhere. At rest is what sleeps on
/// this clock, what waits for its turn, and what waits for somebody outside, as a request of a
/// ``ControlledDataProvider`` waits for the test. Then the time goes from one sleeper to the next, each time with that
/// wait.
///
/// It can't be known of, and is not waited for:
/// - what a provider of yours does once it has left its actor, for a call that was made on the main actor, or on an
///   actor with an executor of its own, and not in a task that was started with ``executor``. It leaves for a
///   `@concurrent` function, another actor, a continuation, a stream of the standard library, a task or a group of
///   tasks. Compiled without the feature `NonisolatedNonsendingByDefault` it does so for every `async` function that
///   isn't marked `nonisolated(nonsending)`. With any feature it does so for those of the standard library, as
///   `Task.yield()`, every sleep on a clock that is known as `any Clock` or as a type parameter only, and what takes a
///   closure: `withTaskCancellationHandler`, `withValue` of a task-local. A closure with a capture list leaves it as
///   well;
/// - a provider that is an actor with an executor of its own, and any other actor while it is busy with work of others;
/// - a call that has this clock and is made in a scope in which another clock was made, unless the time is moved in
///   that scope;
/// - a task of your own, unless it was started with ``executor``. Wait for it with
///   ``sleepers(_:fileID:filePath:line:column:)``.
///
/// Calls made on no actor or on an actor of yours are not delivered before `call()` returns while they are watched, but
/// in the next turns, in the same order. Work may be left on the main actor at any time, and on an actor of yours where
/// it was started, so their turns are waited for: if one of them takes none, the wait ends only with a cancel.
public final class ManualClock: Clock, WatchedClock {
    /// A point in the time of a clock: how far it is from the clock's beginning.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// Makes a point in time.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The point that is so much later, or the nearest to it that there is.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: Duration(attoseconds: offset.attoseconds.addingSaturating(duration.attoseconds)))
        }

        /// How long it is from this point to another one, or the duration nearest to it that there is.
        public func duration(to other: Instant) -> Duration {
            Duration(attoseconds: other.offset.attoseconds.subtractingSaturating(offset.attoseconds))
        }

        /// Whether one point is before another one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: WatchedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// Where the time is on its way to.
        var end = Instant(offset: .zero)
        /// Those come last for whom the time comes first, and of those with one deadline who lay down first.
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

        /// Takes out the one for whom the time comes first, if it comes by then.
        mutating func takeNext(until end: Instant?) -> Sleeper? {
            guard let next = sleepers.last, next.deadline <= end ?? next.deadline else { return nil }
            return sleepers.removeLast()
        }
    }

    private let state = Watched(State())
    /// Those who move the time.
    private let movers = Line()
    private let ledger = FailureLedger.current
    package let workload: any WorkWatch

    /// Makes a clock.
    public init() {
        let workload = TestScope.current?.workload ?? Workload()
        workload.beginWatching()
        self.workload = workload
    }

    /// What tasks of your own are started with that this clock is to know of.
    ///
    /// ```swift
    /// Task(executorPreference: clock.executor) { try await poller.run(on: clock) }
    /// ```
    ///
    /// In an exploration start them with the executor that its body gets: this one takes them out of the seed's order.
    public var executor: any TaskExecutor { workload }

    /// The time, as far as the test has moved it.
    public var now: Instant { state.value.now }

    /// Nothing is too short for this clock.
    public var minimumResolution: Duration { .zero }

    // MARK: Sleepers

    /// Sleeps until the test has moved the time so far. Throws `CancellationError`, at once, if the task is or gets
    /// cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.change { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await LibraryTask.hearingCancel {
            try await LibraryTask.waitThrowing(watch: workload) { continuation in
                let answer: Result<Void, any Error>? = state.change { state in
                    // Asked under the lock: a cancel that comes later finds the sleeper.
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

    /// Sleeps for so long, as ``sleep(until:tolerance:)`` does.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        // The method of the standard library does the same, but leaves the caller's actor on its way, and this clock
        // doesn't know of who has left it.
        try await pause(for: duration)
    }

    package func pause(for duration: Duration) async throws {
        try await sleep(until: now.advanced(by: duration))
    }

    /// How long each of those who sleep still has to sleep, shortest first.
    public var remaining: [Duration] {
        let state = state.value
        return state.sleepers.reversed().map { state.now.duration(to: $0.deadline) }
    }

    /// Waits until so many sleep. Throws `CancellationError` if the task that waits is cancelled.
    public func sleepers(
        _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.wait(for: count, in: state, at: place, counted: \.sleepers.count) {
            "Expected \(count.of("sleeper")), and \($0) came"
        }
    }

    /// Waits until nobody sleeps: all have woken or were cancelled. Throws `CancellationError` if the task that waits
    /// is cancelled.
    public func noSleepers(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.wait(for: state, at: place, until: \.sleepers.isEmpty) {
            "Expected no sleepers, and \($0.sleepers.count.of("sleeper")) stayed"
        }
    }

    // MARK: The time

    /// Moves the time, and returns when everything that came of it is at rest.
    ///
    /// Whoever is due on the way wakes at its own time, in the order of the deadlines, those with the same one in the
    /// order in which they lay down. What they start may sleep and be due as well. With nobody asleep the time moves
    /// all the same.
    ///
    /// Several tasks that move the time have their turns, in the order in which they came, and each moves it from where
    /// the one before has come to: a second for each of two tasks is two seconds. One that comes to this on the way of
    /// another one, as whoever it has woken, has its turn after that.
    ///
    /// If the task that waits is cancelled, the time still moves and wakes whoever is due, but nothing is waited for.
    ///
    /// - Parameters:
    ///   - duration: How far. Less than nothing is nothing.
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

    /// Moves the time from sleeper to sleeper, until everything is at rest and nobody sleeps. Has its turn as
    /// ``advance(by:isolation:)`` has.
    ///
    /// What sleeps again and again for ever keeps this going for ever, until the task that waits is cancelled.
    ///
    /// - Parameter isolation: The caller's actor. Leave it out.
    public func run(isolation: isolated (any Actor)? = #isolation) async {
        await movers.inTurn {
            await rest(isolation: isolation)
            while !Task.isCancelled, wakeNext() { await rest(isolation: isolation) }
        }
    }

    /// Waits until everything that the library has started is at rest. The time stays where it is.
    ///
    /// - Parameter isolation: The caller's actor. Leave it out.
    public func rest(isolation: isolated (any Actor)? = #isolation) async {
        let watched = [workload, LibraryTask.executor].compactMap { $0 as? any WatchedWork }
        guard let resters = watched.lazy.compactMap(\.resters).first else {
            return await Workload.rest(of: watched, isolation: isolation)
        }
        await resters.inTurn { await Workload.rest(of: watched, isolation: isolation) }
        for work in watched { work.restWasTold() }
    }

    /// Whether nothing is on its way, as far as this clock knows, right now.
    package var isAtRest: Bool { (workload as? any WatchedWork)?.turnsAtRest != nil }

    /// Wakes one sleeper, at its time. One at a time: two that go on at once may overtake each other on their way.
    /// False if nobody sleeps until then: it is then by now.
    private func wakeNext(until end: Instant? = nil) -> Bool {
        let sleeper: Sleeper? = state.change { state in
            let next = state.takeNext(until: end)
            // In one step with the look: who lies down between the two would sleep though its time has come.
            if let time = next?.deadline ?? end { state.now = max(state.now, time) }
            return next
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }
}
