import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Every way in which a run can end, and all that is heard of it.
@Suite("The grammar of a run", .inScope, .timeLimit(.ample))
@MainActor
struct GrammarTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    // MARK: Started

    @Test("A value: beginning, success, completion")
    func success() async {
        await recorder.call(Integrator(Echo<Int>()).prepareCall(1)).finish()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("An error: beginning, error, completion")
    func failure() async {
        await recorder.call(Integrator(Failing(Trouble.first)).prepareCall(1)).finish()
        recorder.expectRecorded(.began, .failed(Trouble.first), .completed)
    }

    @Test("A provider that cancels itself: beginning, cancel, completion")
    func cancelFromBelow() async {
        let integrator = Integrator(Failing(CancellationError()))
        await recorder.call(integrator.prepareCall(1)).finish()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    @Test("A cancel while the provider is at work: beginning, cancel, completion", arguments: [false, true])
    func cancelWhileAsking(deaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !deaf)
        let task = recorder.call(Integrator(provider).prepareCall(1))
        let request = try await provider.waitForRequest()
        task.cancel()
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
        request.answer(2)
        try await request.waitUntilEnded()
    }

    @Test("A newer call of .latest while the provider is at work: beginning, cancel, completion")
    func superseded() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .latest)
        let older = recorder.call(integrator.prepareCall(1))
        _ = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed)
        newer.cancel()
        await newer.finish()
    }

    @Test("Progress and retries stand between the beginning and the end")
    func progressAndRetries() async {
        let attempts = Observed(0)
        let provider = ClosureDataProvider<Int, Int> { input in
            IntegrationProgress.report(completed: 1, total: 2)
            let attempt = attempts.countOne()
            if attempt < 3 { throw Trouble.numbered(attempt) }
            return input
        }
        await recorder.call(Integrator(provider).prepareCall(7).retry(5)).finish()
        recorder.expectRecorded(
            .began, .progressed(0.5), .retried(1, after: Trouble.numbered(1)), .progressed(0.5),
            .retried(2, after: Trouble.numbered(2)), .progressed(0.5), .succeeded(7), .completed)
    }

    @Test("The values of a stream, then its end: the last success stands before the completion")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        request.finish()
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .succeeded(2), .completed)
    }

    @Test("An error after values of a stream: success, error, completion")
    func streamError() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.second)
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .failed(Trouble.second), .completed)
    }

    @Test("A cancel after values of a stream: success, cancel, completion")
    func streamCancel() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        task.cancel()
        await task.finish()
        recorder.expectRecorded(.cancelled(.cancelled), .completed)
    }

    @Test("The integrator goes while the provider is at work: beginning, cancel, completion")
    func released() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<Int, Int>? = Integrator(provider, cancelsWhenReleased: true)
        _ = integrator?.prepareCall(1).recorded(in: log).call()
        _ = try await provider.waitForRequest()
        integrator = nil
        try await log.contains("completion")
        #expect(log.entries == ["begin", "cancel released", "completion"])
    }

    // MARK: Unstarted

    @Test("A call that is ignored hears of its cancel, and of nothing else")
    func ignored() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        let second = recorder.call(integrator.prepareCall(2))
        await second.finish()
        recorder.expectRecorded(.cancelled(.ignored))
        first.cancel()
        await first.finish()
        #expect(provider.requestCount == 1)
    }

    @Test("A call past the limit of a queue hears of its cancel, and of nothing else")
    func pastTheLimit() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(limit: 1))
        let first = integrator.prepareCall(1).call()
        let second = integrator.prepareCall(2).call()
        let third = recorder.call(integrator.prepareCall(3))
        await third.finish()
        recorder.expectRecorded(.cancelled(.ignored))
        integrator.cancel()
        await first.finish()
        await second.finish()
    }

    @Test("A call that is cancelled while it waits hears of that, and of nothing else")
    func cancelledWhileWaiting() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue)
        let first = integrator.prepareCall(1).call()
        let second = recorder.call(integrator.prepareCall(2))
        second.cancel()
        await second.finish()
        recorder.expectRecorded(.cancelled(.cancelled))
        try await provider.waitForRequest().answer(1)
        await first.finish()
        #expect(provider.requestCount == 1)
    }

    @Test("A call that is superseded while it waits for the quiet hears of that, and of nothing else")
    func supersededWhileSettling() async throws {
        let clock = ManualClock()
        let integrator = Integrator(Echo<Int>(), executing: .latest(debounce: .seconds(1)), clock: clock)
        let older = recorder.call(integrator.prepareCall(1))
        try await clock.waitForSleepers(1)
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        recorder.expectRecorded(.cancelled(.superseded))
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        await newer.finish()
    }

    @Test("A call whose integrator goes while it waits hears of that, and of nothing else")
    func releasedWhileWaiting() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<Int, Int>? = Integrator(
            provider, executing: .queue, cancelsWhenReleased: true)
        _ = integrator?.prepareCall(1).recorded(in: log, as: "first").call()
        _ = integrator?.prepareCall(2).recorded(in: log, as: "second").call()
        _ = try await provider.waitForRequest()
        integrator = nil
        try await log.count(reaches: 4)
        #expect(log.entries(of: "first") == ["begin", "cancel released", "completion"])
        #expect(log.entries(of: "second") == ["cancel released"])
        #expect(provider.requestCount == 1)
    }
}
