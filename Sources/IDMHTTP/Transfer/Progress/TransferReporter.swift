internal import IDMCore
internal import Synchronization

/// Reports how far a transfer has come to whoever listened when it began: not too often, and never backwards.
final class TransferReporter: Sendable {
    private let reporter: IntegrationProgress.Reporter
    private let elapsed: @Sendable () -> Duration
    private let tellsFalls: Bool
    private let state = Mutex(State())

    private struct State {
        var meter = TransferMeter()
        var count: Int64 = 0
    }

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
        tell { state in
            state.count = completed
            return (state.meter.hear(completed: completed, total: total, at: time), completed)
        }
    }

    /// Tells what was kept back, before the end.
    func flush() {
        tell { ($0.meter.flush(), $0.count) }
    }

    private func tell(_ change: (inout State) -> (TransferProgress?, count: Int64)) {
        let (progress, count) = state.withLock { change(&$0) }
        guard let progress else { return }
        reporter.report(completed: tellsFalls ? count : progress.completed, total: progress.total)
    }
}
