internal import IDMCore

/// Reports how far a transfer has come to whoever listened when it began: not too often, and never backwards.
final class TransferReporter: Sendable {
    private let reporter: IntegrationProgress.Reporter
    private let elapsed: @Sendable () -> Duration
    private let tellsFalls: Bool
    private let meter = Locked(TransferMeter())

    /// A reporter to the listener of the current task. Nil if nobody listens.
    ///
    /// - Parameter tellsFalls: Whether it is told as well that a count begins anew, and not only how far the transfer
    ///   had come at most.
    static func current(_ clock: any Clock<Duration>, tellsFalls: Bool) -> TransferReporter? {
        IntegrationProgress.current.map { TransferReporter($0, clock, tellsFalls: tellsFalls) }
    }

    /// Does something of which nobody hears how far it has come.
    static func silencing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await IntegrationProgress.Reporter(Unheard()).ambient { try await body() }
    }

    private final class Unheard: ProgressListener {
        func hear(_ progress: IntegrationProgress) {}
    }

    private init(_ reporter: IntegrationProgress.Reporter, _ clock: any Clock<Duration>, tellsFalls: Bool) {
        self.reporter = reporter
        self.tellsFalls = tellsFalls
        elapsed = clock.stopwatch()
    }

    func report(_ completed: Int64, of total: Int64?) {
        let time = elapsed()
        tell { $0.hear(completed: completed, total: total, at: time) }
    }

    /// Tells what was kept back, before the end.
    func flush() {
        tell { $0.flush() }
    }

    private func tell(_ change: (inout TransferMeter) -> TransferProgress?) {
        let (progress, count) = meter.withLock { meter in
            let progress = change(&meter)
            return (progress, meter.count)
        }
        guard let progress else { return }
        reporter.report(completed: tellsFalls ? count : progress.completed, total: progress.total)
    }
}
