import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A debounce", .inScope, .timeLimit(.ample))
@MainActor
struct DebounceTests {
    private let clock = ManualClock()
    private let provider = ControlledDataProvider<Int, Int>()
    private let recorder = IntegrationRecorder<Int>()

    private var integrator: Integrator<Int, Int> {
        Integrator(provider, executing: .latest(debounce: .milliseconds(300)), clock: clock)
    }

    @Test("A call starts after the quiet, and not before")
    func afterTheQuiet() async throws {
        let integrator = integrator
        let task = recorder.call(integrator.prepareCall(1))
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.milliseconds(300)])
        await clock.advance(by: .milliseconds(299))
        try await clock.waitForSleepers(1)
        #expect(recorder.events.isEmpty)
        await clock.advance(by: .milliseconds(1))
        try await provider.waitForRequest().answer(1)
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("Of a burst only the last call starts, and the quiet begins anew with each")
    func burst() async throws {
        let integrator = integrator
        var tasks: [IntegrationTask<Int>] = []
        for input in 1...5 {
            tasks.append(recorder.call(integrator.prepareCall(input)))
            try await clock.waitForSleepers(1)
            await clock.advance(by: .milliseconds(299))
        }
        for task in tasks.dropLast() {
            await task.finish()
            recorder.expectRecorded(.cancelled(.superseded))
        }
        #expect(recorder.events.count == 4)
        #expect(provider.requestCount == 0)
        await clock.advance(by: .milliseconds(1))
        let request = try await provider.waitForRequest()
        #expect(request.input == 5)
        request.answer(5)
        await tasks[4].finish()
        recorder.expectRecorded(.began, .succeeded(5), .completed)
    }

    @Test("A running call is superseded inside call(), and not after the quiet")
    func supersededAtOnce() async throws {
        let integrator = integrator
        let older = recorder.call(integrator.prepareCall(1))
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        let request = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        request.answer(1)
        await older.finish()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed)
        newer.cancel()
        await newer.finish()
    }

    @Test("A cancel during the quiet ends the call unstarted, and the clock is left alone", arguments: [false, true])
    func cancelled(byTask: Bool) async throws {
        let integrator = integrator
        let task = recorder.call(integrator.prepareCall(1))
        try await clock.waitForSleepers(1)
        if byTask { task.cancel() } else { integrator.cancel() }
        await task.finish()
        recorder.expectRecorded(.cancelled(.cancelled))
        #expect(clock.remaining.isEmpty)
        let later = integrator.prepareCall(2).call()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        try await provider.waitForRequest().answer(2)
        #expect(await later.outcome == .success(2))
    }

    @Test("No wait at all with a debounce of zero or below", arguments: [Duration.zero, .seconds(-1)])
    func zero(debounce: Duration) async {
        let integrator = Integrator(Echo<Int>(), executing: .latest(debounce: debounce), clock: clock)
        await recorder.call(integrator.prepareCall(1)).finish()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("Each lane has a quiet of its own")
    func lanes() async throws {
        let integrator = Integrator(
            Echo<Int>(), executing: .latest(debounce: .seconds(1)), lane: { $0 % 2 }, clock: clock)
        let tasks = (1...4).map { integrator.prepareCall($0).call() }
        #expect(await tasks[0].outcome == .cancelled(.superseded))
        #expect(await tasks[1].outcome == .cancelled(.superseded))
        try await clock.waitForSleepers(2)
        await clock.advance(by: .seconds(1))
        #expect(await tasks[2].outcome == .success(3))
        #expect(await tasks[3].outcome == .success(4))
    }

    @Test("A request waits for the quiet too, and is superseded like any call")
    func request() async throws {
        let integrator = integrator
        let older = Task { try await integrator.request(1) }
        try await clock.waitForSleepers(1)
        let newer = integrator.prepareCall(2).call()
        await #expect(throws: IntegrationError.self) { try await older.value }
        newer.cancel()
        await newer.finish()
    }
}
