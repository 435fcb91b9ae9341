import TestSupport

@testable import IDMCore

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

/// Runs work in a task that is cancelled before the work begins.
func cancelledTask<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) -> Task<R, any Error> {
    Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await work()
    }
}

/// A provider that answers with its input when the gate is open. A cancel ends the wait.
func gated(by gate: Signal) -> ClosureDataProvider<Int, Int> {
    ClosureDataProvider { input in
        try await gate.wait()
        return input
    }
}

/// An actor with a ``ManualExecutor``.
actor Stage {
    nonisolated let executor = ManualExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs code as in a turn of the actor. Use it only while the executor is closed.
    nonisolated func here<R: Sendable>(_ body: (isolated Stage) throws -> R) rethrows -> R {
        try assumeIsolated(body)
    }

    /// Records a call with handlers on this actor.
    nonisolated func record(_ call: IntegrationCall<Int>, in log: Log) -> IntegrationCall<Int> {
        here { stage in call.recorded(in: log, isolation: stage) }
    }
}

/// Runs code as a handler of a call does.
func asHandler(_ body: () async -> Void) async {
    HandlerContext.enter(#isolation)
    await body()
    HandlerContext.leave(#isolation)
}
