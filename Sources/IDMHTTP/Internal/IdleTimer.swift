internal import IDMCore

/// Knows for how long nothing has happened.
protocol IdleTimer: Sendable {
    /// Something has happened.
    func hear()

    /// Nothing has to happen until something is heard: the time begins anew with that.
    func rest()

    /// Lets something happen once nothing has happened for the time. While a control pauses nothing has to: the time
    /// begins anew with its resume.
    func onSilence(unless control: PauseControl?, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer
}

extension Clock where Duration == Swift.Duration {
    /// What waits for a silence of a duration, which begins now.
    func meter(of duration: Duration) -> any IdleTimer {
        ClockMeter(self, duration: duration)
    }
}

/// An alarm that is set anew whenever something was heard in the meantime: a resume, among others.
private final class RestartingTimer<C: Clock<Duration>>: Sendable {
    private struct State {
        /// Which setting this is: what belongs to one before comes too late.
        var number = 0
        var isOver = false
        /// Whether there was a pause of which the resume hasn't been heard.
        var isPaused = false
        /// How many pauses have been heard of.
        var pauses = 0
        /// Whether it is to be set with the next resume.
        var awaitsResume = false
        var alarm: ScheduledTimer?
        var observation: PauseControl.Observation?
    }

    private let meter: ClockMeter<C>
    private let control: PauseControl?
    private let body: @Sendable () -> Void
    private let state = Locked(State())

    init(_ meter: ClockMeter<C>, _ control: PauseControl?, _ body: @escaping @Sendable () -> Void) {
        self.meter = meter
        self.control = control
        self.body = body
    }

    func begin() {
        // It may be paused already, and resumed as it begins. A pause that is over by then is heard of at its ring.
        let wasPaused = control?.isPaused == true
        let observation = control?.observe { [weak self] in self?.hearControl() }
        state.withLock { state in
            state.observation = observation
            state.isPaused = state.isPaused || wasPaused || control?.isPaused == true
        }
        set()
    }

    private func set() {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let alarm = meter.clock.alarm(at: meter.end) { [self] in ring() }
        let isKept = state.withLock { state in
            guard !state.isOver, state.number == number else { return false }
            state.alarm = alarm
            return true
        }
        if !isKept { alarm.giveUp() }
    }

    private func ring() {
        // Asked for first: whoever is told of a resume makes the silence begin anew, and then ends the pause. So where
        // there is none any more, the end below is the one after the resume.
        let isPaused = state.withLock { state in
            state.awaitsResume = state.isPaused || control?.isPaused == true
            return state.awaitsResume
        }
        // It may have been resumed before that.
        if isPaused { return hearControl() }
        // The time before the end: what is heard between the two still counts.
        let now = meter.clock.now
        if meter.end > now { set() } else { body() }
    }

    private func hearControl() {
        guard let control else { return }
        if control.isPaused {
            state.withLock { state in
                state.isPaused = true
                state.pauses += 1
            }
        }
        let pauses = state.withLock { $0.pauses }
        // A resume may have been heard of in between.
        guard !control.isPaused else { return }
        meter.hearResume()
        let isDue = state.withLock { state in
            // It may be paused again, and whoever hears of the end of that goes on.
            guard state.pauses == pauses else { return false }
            defer { (state.isPaused, state.awaitsResume) = (control.isPaused, false) }
            return state.awaitsResume && !state.isOver
        }
        if isDue { set() }
    }

    func giveUp() {
        let last = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        last.alarm?.giveUp()
    }
}

private final class ClockMeter<C: Clock<Duration>>: IdleTimer {
    let clock: C
    private let duration: Duration
    /// Nil while nothing is to happen.
    private let last: Locked<C.Instant?>

    init(_ clock: C, duration: Duration) {
        self.clock = clock
        // Far enough for anybody, and near enough for the arithmetic of a clock.
        self.duration = min(duration, .seconds(Int64(3_155_760_000)))
        last = Locked(clock.now)
    }

    func hear() {
        let now = clock.now
        last.withLock { $0 = $0.map { max($0, now) } ?? now }
    }

    func rest() { last.withLock { $0 = nil } }

    /// A pause is over, which begins nothing where nothing is to happen.
    func hearResume() {
        let now = clock.now
        last.withLock { $0 = $0.map { max($0, now) } }
    }

    /// When it has been silent for the time, if nothing more is heard. Never, while nothing is to happen: not sooner
    /// than after the time from now on.
    var end: C.Instant { (last.withLock { $0 } ?? clock.now).advanced(by: duration) }

    func onSilence(unless control: PauseControl?, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let alarm = RestartingTimer(self, control, body)
        alarm.begin()
        return ScheduledTimer { alarm.giveUp() }
    }
}
