internal import IDMCore

/// Reports how far a transfer has come to whoever listened when it began: not too often, and never backwards.
final class TransferReporter: Sendable {
    private struct State {
        var meter = TransferMeter()
        /// What is to be told next.
        var next: (completed: Int64, total: Int64?)?
        /// Whether somebody tells, and goes on until there is nothing more.
        var isTelling = false
        /// Those who wait until that has been told.
        var waiters: [UnsafeContinuation<Void, Never>] = []
        /// Whether something tells what is kept back as soon as it isn't too soon any more.
        var isArmed = false
        var alarm: ScheduledTimer?

        /// How long it is until what is kept back may be told, if somebody is to see to that now.
        mutating func arm(at time: Duration) -> Duration? {
            guard !isArmed, let due = meter.due else { return nil }
            isArmed = true
            return due - time
        }

        mutating func disarm() -> ScheduledTimer? {
            defer { (isArmed, alarm) = (false, nil) }
            return alarm
        }

        /// Whether whoever asks is to tell what there is, one thing behind the other.
        mutating func begin() -> Bool {
            guard next != nil, !isTelling else { return false }
            isTelling = true
            return true
        }

        mutating func takeNext() -> (completed: Int64, total: Int64?)? {
            defer { next = nil }
            isTelling = next != nil
            return next
        }

        mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
            guard !isTelling else { return [] }
            defer { waiters = [] }
            return waiters
        }
    }

    private let reporter: IntegrationProgress.Reporter
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let tellsFalls: Bool
    private let state = Locked(State())

    /// A reporter to the listener of the current task. Nil if nobody listens.
    ///
    /// - Parameter tellsFalls: Whether it is told as well that a count begins anew, and not only how far the transfer
    ///   had come at most.
    static func current(_ clock: any Clock<Duration>, tellsFalls: Bool) -> TransferReporter? {
        IntegrationProgress.current.map { TransferReporter($0, clock, tellsFalls: tellsFalls) }
    }

    private init(_ reporter: IntegrationProgress.Reporter, _ clock: any Clock<Duration>, tellsFalls: Bool) {
        self.reporter = reporter
        self.clock = clock
        self.tellsFalls = tellsFalls
        elapsed = clock.stopwatch()
    }

    deinit { state.withLock { $0.disarm() }?.cancel() }

    func report(_ completed: Int64, of total: Int64?) {
        tell { $0.hear(completed: completed, total: total, at: $1) }
    }

    /// Tells what was kept back, before the end. Returns when everything has been heard.
    func flush() async {
        tell { meter, _ in meter.flush() }
        state.withLock { $0.disarm() }?.cancel()
        await withUnsafeContinuation { waiter in
            let waiters = state.withLock { state in
                state.waiters.append(waiter)
                return state.takeWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    private func tell(_ change: (inout TransferMeter, Duration) -> TransferProgress?) {
        let time = elapsed()
        let (isDue, rest) = state.withLock { state in
            if let progress = change(&state.meter, time) {
                state.next = (tellsFalls ? state.meter.count : progress.completed, progress.total)
            }
            return (state.begin(), state.arm(at: time))
        }
        if let rest { arm(rest) }
        guard isDue else { return }
        while let next = state.withLock({ $0.takeNext() }) {
            reporter.report(completed: next.completed, total: next.total)
        }
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
    }

    /// Nothing more may come for long.
    private func arm(_ rest: Duration) {
        let alarm = clock.alarm(in: rest) { [weak self] in
            _ = self?.state.withLock { $0.disarm() }
            self?.tell { $0.flushIfDue(at: $1) }
        }
        state.withLock { $0.alarm = alarm }
    }
}

extension Clock where Duration == Swift.Duration {
    fileprivate func alarm(in rest: Duration, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        timer(at: now.advanced(by: rest), body)
    }
}
