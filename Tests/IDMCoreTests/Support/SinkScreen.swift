import IDMCore

/// A screen that conforms to all the sinks.
@MainActor
final class SinkScreen: LoadingHandling, ErrorHandling, DataHandling, ProgressHandling {
    private(set) var lines: [String] = []

    func beginLoading() { lines.append("loading") }
    func finishLoading() { lines.append("finished") }
    func handle(error: any Error) { lines.append("error \(error)") }
    func handle(data: Int) { lines.append("data \(data)") }
    func handle(progress: IntegrationProgress) { lines.append("progress \(progress.fraction)") }
}
