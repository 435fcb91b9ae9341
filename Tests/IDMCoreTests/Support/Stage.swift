import TestSupport

@testable import IDMCore

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
