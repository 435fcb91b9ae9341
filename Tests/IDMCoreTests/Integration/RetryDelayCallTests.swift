import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct RetryDelayCallTests {
    private let clock = ManualClock()
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()

    @Test func `onRetry comes before the delay, which the integrator's clock measures`() async throws {
        let task = Integrator(provider, clock: clock).prepareCall(1).recorded(in: log)
            .retry(3, delay: .exponential(initial: .seconds(1))).call()
        for (retry, seconds) in zip(1..., [1, 2, 4]) {
            try await provider.waitForRequest().fail(Trouble.first)
            try await clock.waitForSleepers(1)
            #expect(log.entries.last == "retry \(retry) after first")
            #expect(clock.remaining == [.seconds(seconds)])
            await clock.advance(by: .seconds(seconds))
        }
        try await provider.waitForRequest().answer(1)

        #expect(await task.outcome == .success(1))
    }

    @Test(arguments: [true, false])
    func `a call whose own code cancels its task ends and frees its place`(inHandler: Bool) async throws {
        let integrator = Integrator(provider, executing: .queue, clock: clock)
        let cancel: @Sendable () -> Void = { withUnsafeCurrentTask { $0?.cancel() } }
        let plain = integrator.prepareCall(1).recorded(in: log)
        let call =
            inHandler
            ? plain.onRetry { _, _ in cancel() }.retry(1)
            : plain.retry(1) { _ in
                cancel()
                return true
            }
        let task = call.call()
        let next = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        await task.finish()
        try await provider.waitForRequest().answer(2)

        #expect(log.entries == ["begin", "retry 1 after first", "cancel cancelled", "completion"])
        #expect(try await next.value == 2)
    }

    @Test func `a pause before the turn of onRetry holds back the retry`() async throws {
        let (stage, control) = (Stage(), PauseControl())
        let call = Integrator(provider, clock: clock).prepareCall(1).retry(1)
        let recorded = stage.here { stage in call.onRetry { [log] number, _ in log.add("retry \(number)") } }
        let task = control.bind { recorded.call() }
        try await provider.waitForRequest().fail(Trouble.first)
        try await stage.executor.waitForJobs()

        control.pause()
        stage.executor.open()
        await clock.rest()
        #expect(log.entries == [])
        control.resume()
        try await provider.waitForRequest().answer(1)

        #expect(await task.outcome == .success(1))
        #expect(log.entries == ["retry 1"])
    }
}
