import IDMTesting
import TestSupport

@testable import IDMCore

extension IntegrationCall {
    /// Records each event as a line, with handlers on the caller's actor.
    consuming func recorded(
        in log: Log, as name: String? = nil, isolation: isolated (any Actor)? = #isolation
    ) -> IntegrationCall {
        let name = name.map { "\($0): " } ?? ""
        return recorded(isolation: isolation) { log.add(name + $0) }
    }

    consuming func recorded(
        isolation: isolated (any Actor)? = #isolation, _ add: @escaping @Sendable (String) -> Void
    ) -> IntegrationCall {
        self
            .onBeginning { add("begin") }
            .onProgress { add("progress \($0.fraction)") }
            .onRetry { add("retry \($0) after \($1)") }
            .onSuccess { add("success \($0)") }
            .onError { add("error \($0)") }
            .onCancel { add("cancel \($0)") }
            .onCompletion { add("completion") }
    }

    /// Opens the signal when the handlers are released: no event of the call can follow.
    consuming func opening(_ gone: Signal, isolation: isolated (any Actor)? = #isolation) -> IntegrationCall {
        let canary = DeinitObserver { gone.open() }
        return onCompletion { withExtendedLifetime(canary) {} }
    }
}

extension Integrator {
    /// Records each event of every call as a line, with handlers on the caller's actor.
    func recorded(in log: Log, as name: String, isolation: isolated (any Actor)? = #isolation) {
        _ = addHandlers { $0.recorded(in: log, as: name, isolation: isolation) }
    }
}

extension Log {
    /// The lines that were recorded under a name, without the name.
    func entries(of name: String) -> [String] {
        entries.filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}

/// Records progress reports.
final class ProgressLog: ProgressListener {
    private let recorded = Observed<[IntegrationProgress]>([])

    var fractions: [Double] { recorded.value.map(\.fraction) }
    var reports: [IntegrationProgress] { recorded.value }
    var reporter: IntegrationProgress.Reporter { IntegrationProgress.Reporter(self) }

    func hear(_ progress: IntegrationProgress) {
        recorded.change { $0.append(progress) }
    }
}

/// A screen that conforms to all sinks.
@MainActor
final class SinkScreen: LoadingHandling, ErrorHandling, DataHandling, ProgressHandling {
    private(set) var lines: [String] = []

    func beginLoading() { lines.append("loading") }
    func finishLoading() { lines.append("finished") }
    func handle(error: any Error) { lines.append("error \(error)") }
    func handle(data: Int) { lines.append("data \(data)") }
    func handle(progress: IntegrationProgress) { lines.append("progress \(progress.fraction)") }
}
