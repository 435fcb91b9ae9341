import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 8: cancel reaches the provider, and is never heard as an error", .inScope, .timeLimit(.ample))
@MainActor
struct Rule08CancelTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()
    private let gone = Signal()

    // MARK: It reaches the provider

    @Test("The task of the provider is cancelled: by the task")
    func byTask() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Integrator(provider).prepareCall(1).call()
        let request = try await provider.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
    }

    @Test(
        "The task of the provider is cancelled: as it is asked, before `call()` returns", arguments: [true, false],
        [true, false])
    func asItIsAsked(isHeard: Bool, isOnMain: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let asked = Observed<Integrator<Int, Int>?>(nil)
        let integrator = Integrator<Int, Int>(
            ClosureDataProvider { number in
                asked.value?.cancel()
                return try await provider.request(number)
            })
        asked.change { $0 = integrator }
        let silent = integrator.prepareCall(1)
        let call = isHeard ? silent.recorded(in: log) : silent
        let task = isOnMain ? call.call() : await Self.callOnNoActor(call)
        let request = try await provider.waitForRequest()
        asked.change { $0 = nil }
        try await request.waitUntilCancelled()
        request.answer(1)
        await task.finish()
        #expect(await task.outcome.cancelReason == .cancelled)
        #expect(log.entries == (isHeard ? ["begin", "cancel cancelled", "completion"] : []))
    }

    @concurrent
    private static func callOnNoActor(_ call: IntegrationCall<Int>) async -> IntegrationTask<Int> { call.call() }

    @Test("The tasks of all providers are cancelled: by the integrator", arguments: ExecutingType.several)
    func byIntegrator(type: ExecutingType) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: type)
        let tasks = (1...3).map { integrator.prepareCall($0).call() }
        let request = try await provider.waitForRequest()
        integrator.cancel()
        try await request.waitUntilCancelled()
        for task in tasks {
            await task.finish()
            #expect(await task.outcome.cancelReason != nil)
        }
    }

    @Test("The task of the provider is cancelled: by a newer call")
    func bySupersession() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .latest)
        integrator.prepareCall(1).call()
        let request = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        try await request.waitUntilCancelled()
        newer.cancel()
        await newer.finish()
    }

    @Test("The task of the provider is cancelled: by the release of the integrator")
    func byRelease() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<Int, Int>? = Integrator(provider, cancelsWhenReleased: true)
        _ = integrator?.prepareCall(1).call()
        let request = try await provider.waitForRequest()
        integrator = nil
        try await request.waitUntilCancelled()
    }

    @Test("The task of the provider is cancelled: by the task that awaits the request")
    func byRequest() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let awaiting = Task { try await integrator.request(1) }
        let request = try await provider.waitForRequest()
        awaiting.cancel()
        try await request.waitUntilCancelled()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
    }

    @Test("A cancel between two values reaches a stream")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        recorder.expectRecorded(.cancelled(.cancelled), .completed)
    }

    @Test("A cancel in the beginning: the provider is not asked")
    func atTheBeginning() async {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        await integrator.prepareCall(1).onBeginning { integrator.cancel() }.call().finish()
        #expect(provider.requestCount == 0)
    }

    @Test("A cancel that a provider makes while it is asked reaches it")
    func fromTheProvider() async throws {
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(
            ClosureDataProvider<Int, Int> { input in
                itself.value?.cancel(isolation: nil)
                return try await provider.request(input)
            })
        itself.change { $0 = integrator }
        let task = recorder.call(integrator.prepareCall(1).opening(gone))
        try await provider.waitForRequest().waitUntilCancelled()
        await task.finish()
        itself.change { $0 = nil }
        try await gone.wait()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    // MARK: The cancel handler

    @Test("The cancel handler is called once, however often the call is cancelled")
    func handlerOnce() async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let integrator = Integrator(callbacks)
        let task = integrator.prepareCall(1).opening(gone).call()
        let request = try await callbacks.waitForRequest()
        task.cancel()
        task.cancel()
        integrator.cancel()
        try await gone.wait()
        #expect(request.cancelCount == 1)
    }

    @Test("The cancel handler is not called after an answer")
    func handlerAfterAnswer() async throws {
        let (callbacks, next) = (ControlledCallbackDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let task = Integrator(callbacks >>>> next).prepareCall(1).opening(gone).call()
        let request = try await callbacks.waitForRequest()
        request.answer(1)
        // The call goes on, and hears the cancel.
        let following = try await next.waitForRequest()
        task.cancel()
        try await following.waitUntilCancelled()
        try await gone.wait()
        #expect(request.cancelCount == 0)
    }

    /// Is cancelled before it has returned its cancel handler.
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

    @Test("The cancel handler is called though the cancel came before it was returned")
    func handlerReturnedLate() async throws {
        let itself = Observed<Integrator<Int, Int>?>(nil)
        let provider = CancelledWhileAsked { itself.value?.cancel(isolation: nil) }
        let integrator = Integrator(provider)
        itself.change { $0 = integrator }
        let task = recorder.call(integrator.prepareCall(1).opening(gone))
        await task.finish()
        itself.change { $0 = nil }
        try await gone.wait()
        #expect(provider.cancels.value == 1)
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    @Test("A callback provider whose task is already cancelled isn't asked")
    func notAsked() async throws {
        let (callbacks, first) = (
            ControlledCallbackDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>(reactsToCancel: false)
        )
        let integrator = Integrator(
            ClosureDataProvider<Int, Int> { input in
                let next = try await first.request(input)
                return try await callbacks.request(next)
            })
        let task = integrator.prepareCall(1).opening(gone).call()
        let request = try await first.waitForRequest()
        task.cancel()
        request.answer(1)
        try await gone.wait()
        #expect(callbacks.requestCount == 0)
    }

    // MARK: It is no error

    @Test("A cancellation from below ends the run through onCancel, with its reason")
    func fromBelow() async {
        for (error, reason) in [
            (CancellationError(), .cancelled), (IntegrationError.cancelled(.ignored), .ignored),
            (IntegrationError.cancelled(.superseded), .superseded), (IntegrationError.cancelled(.released), .released),
            (IntegrationError.cancelled(.cancelled), .cancelled),
        ] as [(any Error, CancelReason)] {
            let task = recorder.call(Integrator(Failing(error)).prepareCall(1))
            await task.finish()
            recorder.expectRecorded(.began, .cancelled(reason), .completed)
            #expect(await task.outcome == .cancelled(reason))
        }
    }

    @Test("A cancellation from below after values of a stream ends the run through onCancel")
    func fromBelowInAStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(IntegrationError.cancelled(.superseded))
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .cancelled(.superseded), .completed)
    }

    @Test("A provider that answers its cancel with an error of its own is not heard")
    func errorAfterCancel() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let task = recorder.call(Integrator(provider).prepareCall(1).opening(gone))
        let request = try await provider.waitForRequest()
        task.cancel()
        request.fail(Trouble.first)
        try await gone.wait()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    @Test("An integrator inside another: the inner call's reason ends the outer one")
    func nested() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let inner = Integrator(provider, executing: .latest)
        let task = recorder.call(Integrator(inner).prepareCall(1))
        _ = try await provider.waitForRequest()
        let newer = inner.prepareCall(2).call()
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed)
        newer.cancel()
        await newer.finish()
    }

    @Test("An integrator inside another: a cancel of the outer call reaches the inner provider")
    func nestedCancel() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = recorder.call(Integrator(Integrator(Integrator(provider))).prepareCall(1))
        let request = try await provider.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }
}
