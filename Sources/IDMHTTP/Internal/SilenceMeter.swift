internal import IDMCore
internal import Synchronization

/// Knows for how long nothing has happened.
protocol SilenceMeter: Sendable {
    /// Something has happened.
    func hear()

    /// Waits until nothing has happened for the time. False if the task is cancelled before.
    func silence() async -> Bool
}

extension Clock where Duration == Swift.Duration {
    /// What waits for a silence of a duration, which begins now.
    func meter(of duration: Duration) -> any SilenceMeter {
        ClockMeter(self, duration: duration)
    }
}

private final class ClockMeter<C: Clock<Duration>>: SilenceMeter {
    private let clock: C
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

    func silence() async -> Bool {
        while true {
            let end = last.withLock { $0 }.advanced(by: duration)
            if end <= clock.now { return !Task.isCancelled }
            guard (try? await clock.sleepInSteps(until: end)) != nil else { return false }
        }
    }
}
