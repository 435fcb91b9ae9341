import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Every way in which a run can end, and all that is heard of it.
@Suite("The grammar of a run", .timeLimit(.ample))
@MainActor
struct GrammarTests {
    private let log = Log()

    // MARK: Started

    @Test("A value: beginning, success, completion")
    func success() async {
        await Integrator(Echo<Int>()).prepareCall(1).recorded(in: log).call().finish()
        #expect(log.entries == ["begin", "success 1", "completion"])
    }

    @Test("An error: beginning, error, completion")
    func failure() async {
        await Integrator(Failing(Trouble.first)).prepareCall(1).recorded(in: log).call().finish()
        #expect(log.entries == ["begin", "error first", "completion"])
    }

    @Test("A provider that cancels itself: beginning, cancel, completion")
    func cancelFromBelow() async {
        let integrator = Integrator(Failing(CancellationError()))
        await integrator.prepareCall(1).recorded(in: log).call().finish()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }

    @Test("A cancel while the provider is at work: beginning, cancel, completion", arguments: [false, true])
    func cancelWhileAsking(deaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: !deaf)
        let task = Integrator(provider).prepareCall(1).recorded(in: log).call()
        let request = try await provider.nextRequest()
        task.cancel()
        await task.finish()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        request.answer(2)
        try await request.ended()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }

    @Test("A newer call of .latest while the provider is at work: beginning, cancel, completion")
    func superseded() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .latest)
        let older = integrator.prepareCall(1).recorded(in: log).call()
        _ = try await provider.nextRequest()
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        #expect(log.entries == ["begin", "cancel superseded", "completion"])
        newer.cancel()
        await newer.finish()
    }

    @Test("Progress and retries stand between the beginning and the end")
    func progressAndRetries() async {
        let attempts = Watched(0)
        let provider = ClosureDataProvider<Int, Int> { input in
            IntegrationProgress.report(completed: 1, total: 2)
            let attempt = attempts.countOne()
            if attempt < 3 { throw Trouble.numbered(attempt) }
            return input
        }
        await Integrator(provider).prepareCall(7).recorded(in: log).retry(5).call().finish()
        #expect(
            log.entries == [
                "begin", "progress 0.5", "retry 1 after numbered(1)", "progress 0.5", "retry 2 after numbered(2)",
                "progress 0.5", "success 7", "completion",
            ])
    }

    @Test("The values of a stream, then its end: the last success stands before the completion")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).recorded(in: log).call()
        let request = try await stream.nextRequest()
        request.send(1)
        request.send(2)
        request.finish()
        await task.finish()
        #expect(log.entries == ["begin", "success 1", "success 2", "completion"])
    }

    @Test("An error after values of a stream: success, error, completion")
    func streamError() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).recorded(in: log).call()
        let request = try await stream.nextRequest()
        request.send(1)
        request.fail(Trouble.second)
        await task.finish()
        #expect(log.entries == ["begin", "success 1", "error second", "completion"])
    }

    @Test("A cancel after values of a stream: success, cancel, completion")
    func streamCancel() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).recorded(in: log).call()
        let request = try await stream.nextRequest()
        request.send(1)
        try await log.contains("success 1")
        task.cancel()
        await task.finish()
        #expect(log.entries == ["begin", "success 1", "cancel cancelled", "completion"])
    }

    @Test("The integrator goes while the provider is at work: beginning, cancel, completion")
    func released() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<Int, Int>? = Integrator(provider)
        _ = integrator?.prepareCall(1).recorded(in: log).call()
        _ = try await provider.nextRequest()
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
        let second = integrator.prepareCall(2).recorded(in: log).call()
        await second.finish()
        #expect(log.entries == ["cancel ignored"])
        first.cancel()
        await first.finish()
        #expect(log.entries == ["cancel ignored"])
        #expect(provider.requestCount == 1)
    }

    @Test("A call past the limit of a queue hears of its cancel, and of nothing else")
    func pastTheLimit() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(limit: 1))
        let first = integrator.prepareCall(1).call()
        let second = integrator.prepareCall(2).call()
        let third = integrator.prepareCall(3).recorded(in: log).call()
        await third.finish()
        #expect(log.entries == ["cancel ignored"])
        integrator.cancel()
        await first.finish()
        await second.finish()
        #expect(log.entries == ["cancel ignored"])
    }

    @Test("A call that is cancelled while it waits hears of that, and of nothing else")
    func cancelledWhileWaiting() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue)
        let first = integrator.prepareCall(1).call()
        let second = integrator.prepareCall(2).recorded(in: log).call()
        second.cancel()
        await second.finish()
        #expect(log.entries == ["cancel cancelled"])
        try await provider.nextRequest().answer(1)
        await first.finish()
        #expect(log.entries == ["cancel cancelled"])
        #expect(provider.requestCount == 1)
    }

    @Test("A call that is superseded while it waits for the quiet hears of that, and of nothing else")
    func supersededWhileSettling() async throws {
        let clock = ManualClock()
        let integrator = Integrator(Echo<Int>(), executing: .latest(debounce: .seconds(1)), clock: clock)
        let older = integrator.prepareCall(1).recorded(in: log).call()
        try await clock.sleepers(1)
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        #expect(log.entries == ["cancel superseded"])
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(1))
        await newer.finish()
        #expect(log.entries == ["cancel superseded"])
    }

    @Test("A call whose integrator goes while it waits hears of that, and of nothing else")
    func releasedWhileWaiting() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<Int, Int>? = Integrator(provider, executing: .queue)
        _ = integrator?.prepareCall(1).recorded(in: log, as: "first").call()
        _ = integrator?.prepareCall(2).recorded(in: log, as: "second").call()
        _ = try await provider.nextRequest()
        integrator = nil
        try await log.count(reaches: 4)
        #expect(log.entries(of: "first") == ["begin", "cancel released", "completion"])
        #expect(log.entries(of: "second") == ["cancel released"])
        #expect(provider.requestCount == 1)
    }
}
