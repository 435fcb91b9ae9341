import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 8: a cancel reaches the provider and is never an error", .inScope, .timeLimit(.ample))
@MainActor
struct Rule08CancelTests {
    private let log = Log()
    private let gone = Signal()

    // MARK: The provider

    /// The code that cancels a running call.
    enum Canceller: CaseIterable {
        case task, integrator, newerCall, release, outerCall
    }

    @Test(arguments: Canceller.allCases, [false, true])
    func `each way to cancel reaches the provider or ends the retry delay`(
        canceller: Canceller, isInDelay: Bool
    ) async throws {
        let (provider, clock) = (ControlledDataProvider<Int, Int>(), ManualClock())
        var integrator: Integrator<Int, Int>? = Integrator(
            provider, executing: .latest, cancelsWhenReleased: true, clock: clock)
        var called = integrator
        if canceller == .outerCall, let inner = integrator { called = Integrator(inner, clock: clock) }
        var task = called?.prepareCall(1).recorded(in: log).opening(gone).retry(3, delay: .constant(.seconds(1)))
            .call()
        let request = try await provider.waitForRequest()
        if isInDelay {
            request.fail(Trouble.first)
            try await clock.waitForSleepers(1)
        }

        switch canceller {
        case .task, .outerCall: task?.cancel()
        case .integrator: integrator?.cancel()
        case .newerCall: integrator?.prepareCall(2).call()
        case .release: (task, called, integrator) = (nil, nil, nil)
        }
        if !isInDelay { try await request.waitUntilCancelled() }
        try await gone.wait()
        integrator?.cancel()

        let reason: CancelReason =
            switch canceller {
            case .newerCall: .superseded
            case .release: .released
            default: .cancelled
            }
        #expect(clock.remaining.isEmpty)
        #expect(log.entries.filter { !$0.hasPrefix("retry") } == ["begin", "cancel \(reason)", "completion"])
    }

    @Test(arguments: [true, false], [CallerPlace.mainActor, .noActor])
    func `a cancel by the provider while it is asked reaches it`(hasBeginHandler: Bool, place: CallerPlace) async throws
    {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let integrator = Integrator<Int, Int>(
            ClosureDataProvider { number in
                itself.value?.cancel(isolation: nil)
                return try await provider.request(number)
            })
        itself.change { $0 = integrator }
        let task = await place.run { isolation in
            let plain = integrator.prepareCall(1)
            let call = hasBeginHandler ? plain.recorded(in: log, isolation: isolation) : plain
            return call.call(isolation: isolation)
        }
        let request = try await provider.waitForRequest()
        try await request.waitUntilCancelled()
        request.answer(1)
        await task.finish()
        itself.change { $0 = nil }

        #expect(await task.outcome == .cancelled(.cancelled))
        #expect(log.entries == (hasBeginHandler ? ["begin", "cancel cancelled", "completion"] : []))
    }

    // MARK: Before the provider is asked

    /// Notes its inputs.
    private func noting(_ asked: Log) -> ClosureDataProvider<Int, Int> {
        ClosureDataProvider { input in
            asked.add("\(input)")
            return input
        }
    }

    @Test func `a cancel in onBeginning keeps the provider from being asked`() async {
        let asked = Log()
        let integrator = Integrator(noting(asked))
        await integrator.prepareCall(1).onBeginning { integrator.cancel() }.call().finish()

        #expect(asked.entries == [])
    }

    @Test(arguments: [true, false])
    func `a call that is cancelled in the handler that made it never asks`(hasBeginHandler: Bool) async {
        let asked = Log()
        let inner = Integrator(noting(asked))
        var made: IntegrationTask<Int>?
        let outer = Integrator(Echo<Int>()).prepareCall(1)
            .onSuccess { _ in
                let call = inner.prepareCall(2).onCancel { [log] in log.add("cancel \($0)") }
                made = (hasBeginHandler ? call.onBeginning { [log] in log.add("begin") } : call).call()
                made?.cancel()
            }
            .call()
        await outer.finish()
        await made?.finish()

        #expect(log.entries == ["cancel cancelled"])
        #expect(asked.entries == [])
    }

    @Test func `a call that is superseded by the call it superseded never asks`() async throws {
        let (asked, never) = (Log(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(noting(asked) >>>> never, executing: .latest)
        var third: IntegrationTask<Int>?
        let first = integrator.prepareCall(1)
            .onCancel { [log] in
                log.add("first \($0)")
                third = integrator.prepareCall(3).call()
            }
            .call()
        _ = try await never.waitForRequest()
        let second = integrator.prepareCall(2).onCancel { [log] in log.add("second \($0)") }.call()
        await first.finish()
        await second.finish()
        try await never.waitForRequest().answer(30)

        #expect(try await third?.value == 30)
        #expect(asked.entries == ["1", "3"])
        #expect(log.entries == ["first superseded", "second superseded"])
    }

    // The begin event is delivered on another actor. On the way back, code on this actor may cancel the call.
    @Test func `a call cancelled after its begin event on a busy actor never asks`() async throws {
        let (stage, asked) = (Stage(), Log())
        let integrator = Integrator(noting(asked))
        let call = stage.here { stage in integrator.prepareCall(1).onBeginning { [log] in log.add("begin") } }
        let task = call.onCancel { [log] in log.add("cancel \($0)") }.opening(gone).call()
        try await stage.executor.waitForJobs()
        stage.executor.open()

        task.cancel()
        await task.finish()
        try await gone.wait()

        #expect(log.entries == ["begin", "cancel cancelled"])
        #expect(asked.entries == [])
    }

    // MARK: The cancel handler of a callback provider

    @Test func `a cancel handler is called once however often the call is cancelled`() async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let integrator = Integrator(callbacks)
        let task = integrator.prepareCall(1).opening(gone).call()
        let request = try await callbacks.waitForRequest()

        for _ in 1...2 { task.cancel() }
        integrator.cancel()
        try await gone.wait()

        #expect(request.cancelCount == 1)
    }

    @Test func `a cancel handler is not called after an answer`() async throws {
        let (callbacks, next) = (ControlledCallbackDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let task = Integrator(callbacks >>>> next).prepareCall(1).opening(gone).call()
        let request = try await callbacks.waitForRequest()
        request.answer(1)
        let following = try await next.waitForRequest()

        task.cancel()
        try await following.waitUntilCancelled()
        try await gone.wait()

        #expect(request.cancelCount == 0)
    }

    /// Cancels its call before it returns its cancel handler.
    private struct CancelledWhileAsked: CallbackDataProvider {
        let cancel: @Sendable () -> Void
        let cancels = Observed(0)

        func request(
            _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
        ) -> CancelHandler? {
            cancel()
            return { [cancels] in
                withExtendedLifetime(completion) { cancels.change { $0 += 1 } }
            }
        }
    }

    @Test func `a cancel handler is called though the cancel came before it was returned`() async throws {
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let provider = CancelledWhileAsked { itself.value?.cancel(isolation: nil) }
        let integrator = Integrator(provider)
        itself.change { $0 = integrator }

        await integrator.prepareCall(1).opening(gone).call().finish()
        itself.change { $0 = nil }
        try await gone.wait()

        #expect(provider.cancels.value == 1)
    }

    @Test func `a callback provider is not asked in a cancelled task`() async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let first = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let task = Integrator(
            ClosureDataProvider<Int, Int> { try await callbacks.request(try await first.request($0)) }
        ).prepareCall(1).opening(gone).call()
        let request = try await first.waitForRequest()

        task.cancel()
        request.answer(1)
        try await gone.wait()

        #expect(callbacks.requestCount == 0)
    }

    // MARK: The reason

    @Test(arguments: CancelReason.allCases)
    func `a provider's cancellation ends the call with its reason`(reason: CancelReason) async {
        let error = IntegrationError.cancelled(reason)
        await Integrator(Failing(error)).prepareCall(1).recorded(in: log, as: "value").call().finish()
        await Integrator(Listed(0, error: error)).prepareCall(1).recorded(in: log, as: "stream").call().finish()

        #expect(log.entries(of: "value") == ["begin", "cancel \(reason)", "completion"])
        #expect(log.entries(of: "stream") == ["begin", "success 1", "cancel \(reason)", "completion"])
    }

    @Test func `an inner call's reason ends the outer call`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let inner = Integrator(provider, executing: .latest)
        let task = Integrator(inner).prepareCall(1).recorded(in: log).call()
        _ = try await provider.waitForRequest()

        let newer = inner.prepareCall(2).call()
        await task.finish()
        newer.cancel()

        #expect(log.entries == ["begin", "cancel superseded", "completion"])
    }
}
