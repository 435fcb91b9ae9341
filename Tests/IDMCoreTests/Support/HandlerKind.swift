import IDMCore
import IDMTesting
import TestSupport

/// The seven kinds of handlers.
enum HandlerKind: CaseIterable {
    case beginning, progress, retry, success, error, cancel, completion

    /// True if the end of the call is decided before a handler of this kind runs.
    var isTerminal: Bool {
        switch self {
        case .beginning, .progress, .retry: false
        case .success, .error, .cancel, .completion: true
        }
    }
}

/// A provider that makes a call with one retry call a handler of this kind. With the input 0 it answers at once.
struct Provoking: DataProvider {
    let kind: HandlerKind
    private let attempts = Observed(0)

    init(_ kind: HandlerKind) {
        self.kind = kind
    }

    func request(_ input: Int) async throws -> Int {
        if input == 0 { return 0 }
        let isFirst = attempts.countOne() == 1
        IntegrationProgress.report(completed: 1, total: 2)
        if isFirst { throw Trouble.first }
        switch kind {
        case .error: throw Trouble.second
        case .cancel: throw CancellationError()
        case .beginning, .progress, .retry, .success, .completion: return input
        }
    }
}

extension IntegrationCall {
    /// Adds a handler of one kind, on the main actor.
    @MainActor
    consuming func on(_ kind: HandlerKind, _ body: @escaping @MainActor () -> Void) -> IntegrationCall {
        switch kind {
        case .beginning: onBeginning { body() }
        case .progress: onProgress { _ in body() }
        case .retry: onRetry { _, _ in body() }
        case .success: onSuccess { _ in body() }
        case .error: onError { _ in body() }
        case .cancel: onCancel { _ in body() }
        case .completion: onCompletion { body() }
        }
    }
}

extension ExecutingType {
    /// One of each kind. Types with a debounce need a manual clock.
    static let several: [ExecutingType] = [
        .default, .only, .only(joining: true), .queue, .queue(width: 2), .latest,
    ]
}
