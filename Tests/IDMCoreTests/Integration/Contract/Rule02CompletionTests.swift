import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(
    "Rule 2: onCompletion fires exactly once for each onBeginning, and never without one", .inScope, .timeLimit(.ample))
struct Rule02CompletionTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()
    private let gone = Signal()

    private func expectPairs(_ way: WayToEnd) async throws {
        try await gone.wait()
        let begins = log.entries.filter { $0.hasSuffix("begin") }.count
        let completions = log.entries.filter { $0.hasSuffix("completion") }.count
        #expect(begins == (way.isStarted ? 1 : 0))
        #expect(completions == begins)
        if way.isStarted {
            #expect(log.entries.first?.hasSuffix("begin") == true)
            #expect(log.entries.last?.hasSuffix("completion") == true)
        }
    }

    @Test("Handlers without an actor", arguments: WayToEnd.allCases)
    func withoutActor(way: WayToEnd) async throws {
        try await way.run { $0.recorded(in: log).opening(gone) }
        try await expectPairs(way)
    }

    @Test("Handlers on the main actor", arguments: WayToEnd.allCases)
    @MainActor
    func onTheMainActor(way: WayToEnd) async throws {
        try await way.run { $0.recorded(in: log).opening(gone) }
        try await expectPairs(way)
    }

    @Test("Handlers on the main actor, the call made elsewhere", arguments: WayToEnd.allCases)
    func madeElsewhere(way: WayToEnd) async throws {
        try await way.run { call in
            call.onBeginning { @MainActor in log.add("begin") }.onCompletion { @MainActor in log.add("completion") }
                .opening(gone)
        }
        try await expectPairs(way)
    }

    @Test("A completion that nobody hears a beginning of", arguments: WayToEnd.allCases)
    func withoutBeginning(way: WayToEnd) async throws {
        try await way.run { $0.onCompletion { log.add("completion") }.opening(gone) }
        try await gone.wait()
        #expect(log.count == (way.isStarted ? 1 : 0))
    }

    @Test("A cancel at the beginning, from its own handler, still completes")
    @MainActor
    func cancelAtTheBeginning() async throws {
        let integrator = Integrator(Echo<Int>())
        let task = recorder.call(integrator.prepareCall(1).onBeginning { integrator.cancel() })
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    @Test("A cancel before the beginning could be told is heard without a beginning")
    func cancelBeforeTheBeginning() async throws {
        let (stage, provider) = (Stage(), ControlledDataProvider<Int, Int>())
        let task = stage.record(Integrator(provider).prepareCall(1), in: log).call()
        try await stage.executor.waitForJobs()
        task.cancel()
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["cancel cancelled"])
        #expect(provider.requestCount == 0)
    }

    @Test("A cancel in the completion, or after it, changes nothing")
    @MainActor
    func cancelAtTheEnd() async throws {
        let integrator = Integrator(Echo<Int>())
        let task = recorder.call(integrator.prepareCall(1).onCompletion { integrator.cancel() })
        await task.finish()
        task.cancel()
        integrator.cancel()
        task.cancel()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
        #expect(await task.outcome == .success(1))
    }
}
