import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The delay before a retry of a call", .inScope, .timeLimit(.ample))
@MainActor
struct RetryDelayCallTests {
    private let clock = ManualClock()
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test("onRetry is heard before the delay, and the delay is the integrator's clock's")
    func delays() async throws {
        let task = recorder.call(
            Integrator(provider, clock: clock).prepareCall(1).retry(3, delay: .exponential(initial: .seconds(1))))
        try await recorder.waitForEvents(.began)
        for (retry, seconds) in zip(1..., [1, 2, 4]) {
            try await provider.waitForRequest().fail(Trouble.numbered(seconds))
            try await clock.waitForSleepers(1)
            recorder.expectRecorded(.retried(retry, after: Trouble.numbered(seconds)))
            #expect(clock.remaining == [.seconds(seconds)])
            await clock.advance(by: .seconds(seconds))
        }
        try await provider.waitForRequest().answer(1)
        await task.finish()
        recorder.expectRecorded(.succeeded(1), .completed)
    }

    @Test("A cancel during the delay ends the run at once, and the clock is left alone", arguments: [0, 1, 2])
    func cancel(way: Int) async throws {
        var integrator: Integrator<Int, Int>? = Integrator(
            provider, executing: .latest, cancelsWhenReleased: true, clock: clock)
        let gone = Signal()
        var task = integrator?.prepareCall(1).recorded(in: log).opening(gone).retry(3, delay: .constant(.seconds(1)))
            .call()
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)
        switch way {
        case 0: task?.cancel()
        case 1: integrator?.cancel()
        default: integrator = nil
        }
        task = nil
        integrator = nil
        try await gone.wait()
        #expect(clock.remaining.isEmpty)
        #expect(provider.requestCount == 1)
        #expect(
            log.entries == [
                "begin", "retry 1 after first", way == 2 ? "cancel released" : "cancel cancelled", "completion",
            ])
    }

    @Test(
        "A call whose own code cancels its task before a retry is cancelled, and the next one has its turn",
        arguments: 0..<2)
    func ownCancel(way: Int) async throws {
        let integrator = Integrator(provider, executing: .queue, clock: clock)
        let cancel: @Sendable () -> Void = { withUnsafeCurrentTask { $0?.cancel() } }
        let plain = integrator.prepareCall(1).recorded(in: log)
        let call =
            way == 0
            ? plain.onRetry { _, _ in cancel() }.retry(1)
            : plain.retry(1) { _ in
                cancel()
                return true
            }
        let task = call.call()
        let next = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        await task.finish()
        #expect(log.entries == ["begin", "retry 1 after first", "cancel cancelled", "completion"])
        try await provider.waitForRequest().answer(2)
        #expect(try await next.value == 2)
    }

    @Test("A newer call supersedes one that waits for its retry")
    func superseded() async throws {
        let integrator = Integrator(provider, executing: .latest, clock: clock)
        let older = recorder.call(integrator.prepareCall(1).retry(3, delay: .constant(.seconds(1))))
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)
        let newer = integrator.prepareCall(2).call()
        await older.finish()
        recorder.expectRecorded(.began, .retried(1, after: Trouble.first), .cancelled(.superseded), .completed)
        try await provider.waitForRequest().answer(2)
        #expect(await newer.outcome == .success(2))
        try await clock.waitForNoSleepers()
    }

    @Test("A retry that waits keeps the place in the queue")
    func queue() async throws {
        let integrator = Integrator(provider, executing: .queue, clock: clock)
        let first = integrator.prepareCall(1).retry(1, delay: .constant(.seconds(1))).call()
        let second = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        let retried = try await provider.waitForRequest()
        #expect(retried.input == 1)
        retried.answer(1)
        let next = try await provider.waitForRequest()
        #expect(next.input == 2)
        next.answer(2)
        await first.finish()
        await second.finish()
    }
}
