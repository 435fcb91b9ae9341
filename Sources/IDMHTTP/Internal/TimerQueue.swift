internal import Dispatch
internal import IDMCore

struct ScheduledTimer: Sendable {
    let cancel: @Sendable () -> Void
}

extension Clock where Duration == Swift.Duration {
    /// True if the timers of this clock share one task.
    var sharesTimers: Bool {
        LibraryTask.executor == nil && (self is ContinuousClock || self is SuspendingClock)
    }

    /// Schedules a timer. Its body must be short.
    func timer(at time: Instant, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        switch time {
        case let time as ContinuousClock.Instant where sharesTimers: SystemTimers.continuous.add(body, at: time)
        case let time as SuspendingClock.Instant where sharesTimers: SystemTimers.suspending.add(body, at: time)
        default: taskTimer(at: time, body)
        }
    }

    /// Returns a stopwatch that starts now, and a function that schedules timers at its times.
    func timeline() -> (
        elapsed: @Sendable () -> Duration,
        schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> ScheduledTimer
    ) {
        let start = now
        return ({ start.duration(to: now) }, { timer(at: start.advanced(by: $0), $1) })
    }

    private func taskTimer(at time: Instant, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let task = Task(executorPreference: LibraryTask.executor) {
            if (try? await sleepInSteps(until: time)) != nil { body() }
        }
        return ScheduledTimer { task.cancel() }
    }
}

private enum SystemTimers {
    static let continuous = TimerQueue(ContinuousClock())
    static let suspending = TimerQueue(SuspendingClock())
}

/// All timers of a clock of the system, with one task that sleeps until the next.
///
/// A sleeping task for each would use a timer that the system keeps until its time, although nearly every request ends
/// long before its time-out.
private final class TimerQueue<C: Clock<Duration>>: Sendable {
    private struct State {
        var timers = Heap<C.Instant, @Sendable () -> Void>()
        /// The time until which the current task sleeps. Nil if there is none.
        var end: C.Instant?
        /// The number of the current task.
        var sleeper = 0
    }

    private let clock: C
    private let state = Locked(State())
    /// Has a thread of its own: an app may keep all shared threads busy, and time-outs must end nevertheless.
    private let queue = DispatchQueue(label: "IDMHTTP.TimerQueue")
    /// The maximum sleep of a task: one that has been replaced ends after it.
    private let longest = Duration.seconds(10)

    init(_ clock: C) {
        self.clock = clock
    }

    func add(_ body: @escaping @Sendable () -> Void, at time: C.Instant) -> ScheduledTimer {
        let (id, sleeper) = state.withLock { state -> (Int, Int?) in
            let id = state.timers.insert(body, at: time)
            if let end = state.end, end <= time { return (id, nil) }
            state.end = time
            state.sleeper += 1
            return (id, state.sleeper)
        }
        if let sleeper {
            // Started outside of all tasks: it outlives the caller, and must not retain its task-locals.
            queue.async { Task { await self.sleep(sleeper) } }
        }
        return ScheduledTimer { self.state.withLock { $0.timers.remove(id) } }
    }

    private func sleep(_ sleeper: Int) async {
        while let end = state.withLock({ end(of: sleeper, &$0) }) {
            try? await clock.sleep(until: end, tolerance: nil)
            for body in state.withLock({ $0.timers.removeAll(upTo: clock.now) }) { body() }
        }
    }

    /// Returns the time until which a task sleeps. Nil if it ends.
    private func end(of sleeper: Int, _ state: inout State) -> C.Instant? {
        guard state.sleeper == sleeper else { return nil }
        state.end = state.timers.first().map { min($0.order, clock.now.advanced(by: longest)) }
        return state.end
    }
}
