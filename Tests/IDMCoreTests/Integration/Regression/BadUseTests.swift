import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Bad use is an error or has no effect, and never traps. ``Rule03RetryTests`` and ``DebounceTests`` have bad counts and
/// durations.
@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct BadUseTests {
    @Test func `a huge retry count retries until there is a value`() async {
        let provider = FailingAtFirst(999)
        #expect(await Integrator(provider).prepareCall(1).retry(.max).call().outcome == .success(1))
        #expect(provider.count == 1_000)
    }

    @Test func `an endless retry of a provider that fails at once can be cancelled`() async {
        let task = Integrator(Failing(Trouble.first)).prepareCall(1).retry(.max).call(isolation: nil)
        task.cancel()
        await task.finish()
        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test(arguments: [0, -1, Int.min])
    func `a width below one is one, and a limit below zero is zero`(count: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue(width: count, limit: count))
        let first = integrator.prepareCall(1).call()
        #expect(await integrator.prepareCall(2).call().outcome == .cancelled(.ignored))
        try await provider.waitForRequest().answer(1)
        #expect(await first.outcome == .success(1))
    }

    @Test func `the greatest width and limit run a call`() async {
        let integrator = Integrator(Echo<Int>(), executing: .queue(width: .max, limit: .max))
        #expect(await integrator.prepareCall(1).call().outcome == .success(1))
    }

    @Test func `a call that is started and cancelled a hundred times ends each time`() async {
        let integrator = Integrator(ControlledDataProvider<Int, Int>())
        let call = integrator.prepareCall(1)
        var outcomes: [IntegrationOutcome<Int>] = []
        for _ in 0..<100 {
            let task = call.call()
            for _ in 1...2 { task.cancel() }
            integrator.cancel()
            await task.finish()
            task.cancel()
            outcomes.append(await task.outcome)
        }
        #expect(outcomes.allSatisfy { $0 == .cancelled(.cancelled) })
    }
}
