import IDMCore
import IDMTesting
import TestSupport
import Testing

/// How soon a call that is recorded tells what it does.
extension IntegrationRecorderTests {
    @Test("leaves a call its synchronous delivery")
    @MainActor
    func synchrony() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Integrator(Echo<Int>()).prepareCall(1))
            #expect(recorder.events.count == 3)
            try await recorder.expect(.began, .succeeded(1), .completed)
        }
    }

    @Test("leaves the calls of an integrator their synchronous delivery, on every actor")
    @MainActor
    func synchronyOfIntegrator() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        try await TestScope.run {
            let (recorder, integrator) = (IntegrationRecorder<Int>(), Integrator(Echo<Int>()))
            recorder.hear(integrator)
            integrator.prepareCall(1).call()
            #expect(recorder.events.count == 3)
            try await recorder.expect(.began, .succeeded(1), .completed)
            let other = IntegrationRecorder<Int>(exhaustive: false)
            #expect(await Stage().record(other) == [3, 6])
        }
    }

    private actor Stage {
        /// How many events are there after a call that is recorded, and after one of an integrator that is heard.
        func record(_ recorder: IntegrationRecorder<Int>) -> [Int] {
            let integrator = Integrator(Echo<Int>())
            recorder.call(integrator.prepareCall(1))
            let count = recorder.events.count
            recorder.hear(integrator)
            integrator.prepareCall(1).call()
            return [count, recorder.events.count]
        }
    }
}
