import IDMCore
import TestSupport

/// The isolation of the code that makes a call, and of its handlers.
enum CallerPlace: CaseIterable {
    case mainActor, plainActor, noActor

    private actor PlainActor {}

    /// Runs code in this place.
    func run<R: Sendable>(_ body: @Sendable (isolated (any Actor)?) async throws -> R) async rethrows -> R {
        switch self {
        case .mainActor: try await body(MainActor.shared)
        case .plainActor: try await body(PlainActor())
        case .noActor: try await body(nil)
        }
    }
}

/// Runs code on no actor.
@concurrent
func elsewhere<R: Sendable>(_ body: @Sendable () -> R) async -> R {
    body()
}

/// A provider that answers with its input when the gate is open. A cancel ends the wait.
func gated(by gate: Signal) -> ClosureDataProvider<Int, Int> {
    ClosureDataProvider { input in
        try await gate.wait()
        return input
    }
}
