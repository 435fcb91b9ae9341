import IDMTesting

@testable import IDMCore

/// Hears progress, and keeps the fractions.
final class ProgressLog: ProgressListener {
    private let heard = Observed<[IntegrationProgress]>([])

    var fractions: [Double] { heard.value.map(\.fraction) }
    var reports: [IntegrationProgress] { heard.value }
    var reporter: IntegrationProgress.Reporter { IntegrationProgress.Reporter(self) }

    func hear(_ progress: IntegrationProgress) {
        heard.change { $0.append(progress) }
    }
}
