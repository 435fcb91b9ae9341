import IDMCore
import IDMTesting
import TestSupport

/// Hears each report, where a call would merge some of them.
final class ProgressLog: ProgressListener {
    private let log = Log()

    /// How many units were completed, by each report.
    var counts: [String] { log.entries }

    func hear(_ progress: IntegrationProgress) {
        log.add("\(progress.completed ?? -1)")
    }

    /// Listens to something.
    func listen<Value: Sendable>(to body: () async throws -> Value) async rethrows -> Value {
        try await IntegrationProgress.Reporter(self).ambient { try await body() }
    }
}
