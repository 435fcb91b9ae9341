internal import IDMCore
internal import Synchronization

/// Knows for how long nothing has happened.
protocol SilenceMeter: Sendable {
    /// Something has happened.
    func hear()

    /// Waits until nothing has happened for the time. False if the task is cancelled before.
    func silence() async -> Bool

    /// Lets something happen once nothing has happened for the time. While a control pauses nothing has to: the time
    /// begins anew with its resume.
    func onSilence(unless control: PauseControl?, _ body: @escaping @Sendable () -> Void) -> Alarm
}

extension Clock where Duration == Swift.Duration {
    /// What waits for a silence of a duration, which begins now.
    func meter(of duration: Duration) -> any SilenceMeter {
        ClockMeter(self, duration: duration)
    }
}

/// An alarm that is set anew whenever something was heard in the meantime.
private final class SilenceAlarm<C: Clock<Duration>>: Sendable {
    private enum State {
        case idle
        case set(Alarm)
        case paused(PauseControl.Observation)
        case over
    }

    private let meter: ClockMeter<C>
    private let control: PauseControl?
    private let body: @Sendable () -> Void
    private let state = Mutex(State.idle)

    init(_ meter: ClockMeter<C>, _ control: PauseControl?, _ body: @escaping @Sendable () -> Void) {
        self.meter = meter
        self.control = control
        self.body = body
    }

    func set() {
        let alarm = meter.clock.alarm(at: meter.end) { [self] in
            if meter.end > meter.clock.now { return set() }
            if let control, control.isPaused { return wait(for: control) }
            body()
        }
        if !move(to: .set(alarm)) { alarm.giveUp() }
    }

    private func wait(for control: PauseControl) {
        let observation = control.observe { [weak self] in self?.goOn(if: control) }
        guard move(to: .paused(observation)) else { return }
        // It may have been resumed before it was observed.
        goOn(if: control)
    }

    private func goOn(if control: PauseControl) {
        guard !control.isPaused else { return }
        let wasPaused = state.withLock { state in
            guard case .paused = state else { return false }
            state = .idle
            return true
        }
        guard wasPaused else { return }
        meter.hear()
        set()
    }

    /// Returns false if it was given up.
    private func move(to next: State) -> Bool {
        var last = next
        let isOver = state.withLock { state in
            if case .over = state { return true }
            swap(&state, &last)
            return false
        }
        // What was before goes outside of the lock.
        withExtendedLifetime(last) {}
        return !isOver
    }

    func giveUp() {
        let state = state.withLock { state in
            defer { state = .over }
            return state
        }
        if case .set(let alarm) = state { alarm.giveUp() }
    }
}

private final class ClockMeter<C: Clock<Duration>>: SilenceMeter {
    let clock: C
    private let duration: Duration
    private let last: Mutex<C.Instant>

    init(_ clock: C, duration: Duration) {
        self.clock = clock
        // Far enough for anybody, and near enough for the arithmetic of a clock.
        self.duration = min(duration, .seconds(3_155_760_000))
        last = Mutex(clock.now)
    }

    func hear() {
        let now = clock.now
        last.withLock { $0 = max($0, now) }
    }

    /// When it has been silent for the time, if nothing more is heard.
    var end: C.Instant { last.withLock { $0 }.advanced(by: duration) }

    func onSilence(unless control: PauseControl?, _ body: @escaping @Sendable () -> Void) -> Alarm {
        let alarm = SilenceAlarm(self, control, body)
        alarm.set()
        return Alarm { alarm.giveUp() }
    }

    func silence() async -> Bool {
        while true {
            let end = end
            if end <= clock.now { return !Task.isCancelled }
            guard (try? await clock.sleepInSteps(until: end)) != nil else { return false }
        }
    }
}
