internal import Dispatch
internal import IDMCore

/// Something that happens at a time, unless it is given up before.
struct ScheduledTimer: Sendable {
    let giveUp: @Sendable () -> Void
}

extension Clock where Duration == Swift.Duration {
    /// Whether alarms of this clock are kept together, and cost neither a task nor a timer each.
    var sharesAlarms: Bool {
        LibraryTask.executor == nil && (self is ContinuousClock || self is SuspendingClock)
    }

    /// Lets something happen at a time. It must be short.
    func alarm(at time: Instant, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        switch time {
        case let time as ContinuousClock.Instant where sharesAlarms: SystemAlarms.continuous.add(body, at: time)
        case let time as SuspendingClock.Instant where sharesAlarms: SystemAlarms.suspending.add(body, at: time)
        default: taskAlarm(at: time, body)
        }
    }

    private func taskAlarm(at time: Instant, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let task = Task(executorPreference: LibraryTask.executor) {
            if (try? await sleepInSteps(until: time)) != nil { body() }
        }
        return ScheduledTimer { task.cancel() }
    }
}

private enum SystemAlarms {
    static let continuous = TimerQueue(ContinuousClock())
    static let suspending = TimerQueue(SuspendingClock())
}

/// All alarms of a clock of the system, with one task that sleeps until the next.
///
/// A sleeping task for each would cost a timer that the system keeps until its time, although nearly every request is
/// done long before its time is over.
private final class TimerQueue<C: Clock<Duration>>: Sendable {
    private struct State {
        var book = TimerHeap<C.Instant, @Sendable () -> Void>()
        /// Until when the task sleeps that counts. Nil if none does.
        var end: C.Instant?
        /// Which task that is.
        var sleeper = 0
    }

    private let clock: C
    private let state = Locked(State())
    /// With a thread of its own: an app may keep all of those busy that others share, and then nobody's time would end.
    private let queue = DispatchQueue(label: "IDMHTTP.TimerQueue")
    /// How long the task sleeps at most: one in whose place another has stepped is gone by then.
    private let longest = Duration.seconds(10)

    init(_ clock: C) {
        self.clock = clock
    }

    func add(_ body: @escaping @Sendable () -> Void, at time: C.Instant) -> ScheduledTimer {
        let (id, sleeper) = state.withLock { state -> (Int, Int?) in
            let id = state.book.add(body, at: time)
            if let end = state.end, end <= time { return (id, nil) }
            state.end = time
            state.sleeper += 1
            return (id, state.sleeper)
        }
        if let sleeper {
            // From outside of all tasks, for it outlives whoever adds, and is to keep nothing of theirs.
            queue.async { Task { await self.sleep(sleeper) } }
        }
        return ScheduledTimer { self.state.withLock { $0.book.remove(id) } }
    }

    private func sleep(_ sleeper: Int) async {
        while let end = state.withLock({ end(of: sleeper, &$0) }) {
            try? await clock.sleep(until: end, tolerance: nil)
            for body in state.withLock({ $0.book.take(until: clock.now) }) { body() }
        }
    }

    /// Until when a task is to sleep. Nil if it isn't to.
    private func end(of sleeper: Int, _ state: inout State) -> C.Instant? {
        guard state.sleeper == sleeper else { return nil }
        state.end = state.book.next().map { min($0, clock.now.advanced(by: longest)) }
        return state.end
    }
}

/// What is to be done at which times. Most of it is given up before, and costs little then. A value.
struct TimerHeap<Instant: Comparable, Body> {
    private var bodies = Heap<Instant, Body>()

    /// How many there are, and how many places they take.
    var counts: (alarms: Int, places: Int) { (bodies.counts.elements, bodies.counts.places) }

    /// Something is to be done at a time. Returns what it can be given up with.
    mutating func add(_ body: Body, at time: Instant) -> Int { bodies.insert(body, at: time) }

    /// Something isn't to be done.
    mutating func remove(_ id: Int) { bodies.remove(id) }

    /// When something is to be done next.
    mutating func next() -> Instant? { bodies.first()?.order }

    /// What is to be done by now, in its order.
    mutating func take(until now: Instant) -> [Body] {
        var due: [Body] = []
        while let (time, body) = bodies.first(), time <= now {
            due.append(body)
            bodies.removeFirst()
        }
        return due
    }
}
