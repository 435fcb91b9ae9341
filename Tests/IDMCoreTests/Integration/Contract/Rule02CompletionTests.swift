import IDMCore
import IDMTesting
import TestSupport
import Testing

/// ``GrammarTests`` has the ways to end, with all handlers in one place.
@Suite("Rule 2: onCompletion comes exactly once for each onBeginning", .inScope, .timeLimit(.ample))
struct Rule02CompletionTests {
    private let log = Log()
    private let gone = Signal()

    @Test(arguments: WayToEnd.allCases)
    func `handlers on another actor than the caller's keep the pair`(way: WayToEnd) async throws {
        try await way.run { call in
            call.onBeginning { @MainActor in log.add("begin") }.onCompletion { @MainActor in log.add("completion") }
                .opening(gone)
        }
        try await gone.wait()

        #expect(log.entries == (way.isStarted ? ["begin", "completion"] : []))
    }

    @Test(arguments: WayToEnd.allCases)
    func `a completion comes without a begin handler`(way: WayToEnd) async throws {
        try await way.run { $0.onCompletion { log.add("completion") }.opening(gone) }
        try await gone.wait()

        #expect(log.entries == (way.isStarted ? ["completion"] : []))
    }

    @Test func `a cancel before the begin event is delivered without one`() async throws {
        let (stage, provider) = (Stage(), ControlledDataProvider<Int, Int>())
        let task = stage.record(Integrator(provider).prepareCall(1), in: log).call()
        try await stage.executor.waitForJobs()

        task.cancel()
        stage.executor.open()
        await task.finish()

        #expect(log.entries == ["cancel cancelled"])
        #expect(provider.requestCount == 0)
    }

    @Test @MainActor func `a cancel in or after the completion has no effect`() async {
        let integrator = Integrator(Echo<Int>())
        let task = integrator.prepareCall(1).onCompletion { integrator.cancel() }.recorded(in: log).call()
        await task.finish()
        task.cancel()
        integrator.cancel()

        #expect(log.entries == ["begin", "success 1", "completion"])
        #expect(await task.outcome == .success(1))
    }
}
