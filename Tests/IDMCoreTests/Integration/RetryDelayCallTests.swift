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

    /// The code that cancels a call during its delay.
    enum Canceller: CaseIterable { case task, integrator, release, newerCall }

    @Test(arguments: Canceller.allCases)
    func `a cancel during the delay ends the call and stops the clock`(canceller: Canceller) async throws {
        var integrator: Integrator<Int, Int>? = Integrator(
            provider, executing: .latest, cancelsWhenReleased: true, clock: clock)
        let gone = Signal()
        var task = integrator?.prepareCall(1).recorded(in: log).opening(gone)
            .retry(3, delay: .constant(.seconds(1))).call()
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)

        var newer: IntegrationTask<Int>?
        switch canceller {
        case .task: task?.cancel()
        case .integrator: integrator?.cancel()
        case .newerCall: newer = integrator?.prepareCall(2).call()
        case .release: break
        }
        (task, integrator) = (nil, nil)
        try await gone.wait()
        newer?.cancel()
        await newer?.finish()

        let reason: CancelReason =
            switch canceller {
            case .newerCall: .superseded
            case .release: .released
            default: .cancelled
            }
        #expect(clock.remaining.isEmpty)
        #expect(log.entries == ["begin", "retry 1 after first", "cancel \(reason)", "completion"])
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

    @Test func `a call keeps its place in the queue during the delay`() async throws {
        let integrator = Integrator(provider, executing: .queue, clock: clock)
        let first = integrator.prepareCall(1).retry(1, delay: .constant(.seconds(1))).call()
        let second = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        var inputs: [Int] = []
        for _ in 1...2 {
            let request = try await provider.waitForRequest()
            inputs.append(request.input)
            request.answer(request.input)
        }
        await first.finish()
        await second.finish()

        #expect(inputs == [1, 2])
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

    @Test(arguments: [Duration.seconds(-1), .seconds(Int64.min)])
    func `a negative delay is none`(delay: Duration) async {
        let call = Integrator(Failing(Trouble.first), clock: clock).prepareCall(1).recorded(in: log)
        await call.retry(2, delay: .constant(delay)).call().finish()

        #expect(log.entries == ["begin", "retry 1 after first", "retry 2 after first", "error first", "completion"])
    }
}
