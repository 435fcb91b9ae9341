import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Faults of the original package. The suites of the rules have more of their causes.
@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct OriginalFaultsTests {
    private let first = ControlledDataProvider<Int, Int>()
    private let second = ControlledDataProvider<Int, Int>()

    @Test func `a cancel reaches the second stage of a sequence`() async throws {
        let task = Integrator(first >>>> second).prepareCall(1).call()
        try await first.waitForRequest().answer(2)
        let request = try await second.waitForRequest()

        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
    }

    @Test func `a released group cancels its members`() async throws {
        let gone = Signal()
        var integrator: Integrator<(Int, Int), (Int, Int)>? = Integrator(first >><< second, cancelsWhenReleased: true)
        _ = integrator?.prepareCall((1, 2)).opening(gone).call()
        let requests = [try await first.waitForRequest(), try await second.waitForRequest()]

        integrator = nil
        for request in requests { try await request.waitUntilCancelled() }
        try await gone.wait()
    }

    @Test func `latest continues when the cancels of its providers never call back`() async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let integrator = Integrator(callbacks, executing: .latest)
        for _ in 1...10 {
            integrator.prepareCall(1).call()
            _ = try await callbacks.waitForRequest()
        }
        let last = integrator.prepareCall(2).call()
        try await callbacks.waitForRequest().answer(2)

        #expect(await last.outcome == .success(2))
    }
}
