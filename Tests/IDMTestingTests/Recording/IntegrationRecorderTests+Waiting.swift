import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Who waits for the events of a recorder, and what becomes of a wait that is cancelled.
extension IntegrationRecorderTests {
    @Test("lets several wait at once, each for an event of its own")
    @MainActor
    func severalWait() async throws {
        try await TestScope.run {
            let (provider, recorder) = (ControlledDataProvider<Int, Int>(), IntegrationRecorder<Int>())
            let integrator = Integrator(provider)
            recorder.hear(integrator)
            let waiting = (0..<3).map { _ in Task { @MainActor in try await recorder.expect(.any) } }
            // Comes to the main actor after them: they all wait by now, and one event wakes them all.
            await Task { @MainActor in }.value
            let task = integrator.prepareCall(1).call()
            await Task { @MainActor in }.value
            try await provider.nextRequest().answer(1)
            for waiter in waiting { try await waiter.value }
            await task.finish()
        }
    }
}

extension EventExpectation {
    fileprivate static var any: Self { Self("any") { _ in true } }
}
