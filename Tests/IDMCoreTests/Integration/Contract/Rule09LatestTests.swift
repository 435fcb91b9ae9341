import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 9: once a newer call of .latest is admitted, no older one commits a value", .inScope, .timeLimit(.ample))
@MainActor
struct Rule09LatestTests {
    private let recorder = IntegrationRecorder<Int>()
    private let newerRecorder = IntegrationRecorder<Int>()

    @Test("A provider that ignores its cancel answers, and is not heard")
    func deaf() async throws {
        let (provider, gone) = (ControlledDataProvider<Int, Int>(reactsToCancel: false), Signal())
        let integrator = Integrator(provider, executing: .latest)
        let older = recorder.call(integrator.prepareCall(1).opening(gone))
        let first = try await provider.waitForRequest()
        let newer = newerRecorder.call(integrator.prepareCall(2))
        let second = try await provider.waitForRequest()
        first.answer(1)
        try await gone.wait()
        second.answer(2)
        await newer.finish()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed)
        newerRecorder.expectRecorded(.began, .succeeded(2), .completed)
        #expect(await older.outcome == .cancelled(.superseded))
    }

    @Test("The older call has ended before the deaf provider has answered")
    func endsAtOnce() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .latest)
        let older = recorder.call(integrator.prepareCall(1))
        let first = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed)
        first.answer(1)
        try await provider.waitForRequest().answer(2)
        await newer.finish()
        #expect(await newer.outcome == .success(2))
    }

    @Test("A stream that ignores its cancel delivers no further value")
    func deafStream() async throws {
        let (stream, gone) = (ControlledStreamDataProvider<Int, Int>(reactsToCancel: false), Signal())
        let integrator = Integrator(stream, executing: .latest)
        recorder.call(integrator.prepareCall(1).opening(gone))
        let first = try await stream.waitForRequest()
        first.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        let newer = newerRecorder.call(integrator.prepareCall(2))
        first.send(2)
        first.finish()
        try await gone.wait()
        let second = try await stream.waitForRequest()
        second.send(3)
        second.finish()
        await newer.finish()
        recorder.expectRecorded(.cancelled(.superseded), .completed)
        newerRecorder.expectRecorded(.began, .succeeded(3), .completed)
    }

    @Test("Of a hundred calls of deaf providers, answered in any order, only the last one is heard")
    func burst() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .latest)
        let recorders = (0..<100).map { _ in IntegrationRecorder<Int>() }
        let tasks = recorders.enumerated().map { $1.call(integrator.prepareCall($0)) }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in tasks { requests.append(try await provider.waitForRequest()) }
        var generator = SplitMix(seed: 9)
        for request in requests.shuffled(using: &generator) { request.answer(request.input) }
        for (index, task) in tasks.enumerated() {
            await task.finish()
            #expect(await task.outcome == (index == 99 ? .success(99) : .cancelled(.superseded)))
            recorders[index].expectRecorded(
                .began, index == 99 ? .succeeded(99) : .cancelled(.superseded), .completed)
        }
    }

    @Test("A request of a superseded call throws, with the reason")
    func request() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .latest)
        let older = Task { try await integrator.request(1) }
        let first = try await provider.waitForRequest()
        let newer = Task { try await integrator.request(2) }
        let second = try await provider.waitForRequest()
        second.answer(2)
        #expect(try await newer.value == 2)
        do {
            _ = try await older.value
            Issue.record("was heard")
        } catch {
            guard case IntegrationError.cancelled(.superseded) = error else { throw error }
        }
        first.answer(1)
    }

    @Test("Older calls are superseded inside call(): they end before the newer one begins")
    func order() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .latest)
        recorder.record(integrator)
        let older = integrator.prepareCall(1).call()
        _ = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        try await provider.waitForRequest().answer(2)
        await newer.finish()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed, .began, .succeeded(2), .completed)
    }

    @Test("A failure of the newer call does not bring the older one back")
    func failureOfTheNewer() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .latest)
        let older = integrator.prepareCall(1).call()
        let first = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        await newer.finish()
        first.answer(1)
        #expect(await older.outcome == .cancelled(.superseded))
        #expect(await newer.outcome.error as? Trouble == .first)
    }
}
