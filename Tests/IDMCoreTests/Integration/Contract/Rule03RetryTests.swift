import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@Suite("Rule 3: retries happen inside one run, and onRetry hears of each", .inScope, .timeLimit(.ample))
@MainActor
struct Rule03RetryTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test("One beginning, one completion, and a retry for each failure between them")
    func oneRun() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1).retry(2))
        try await provider.waitForRequest().fail(Trouble.numbered(1))
        try await provider.waitForRequest().fail(Trouble.numbered(2))
        try await provider.waitForRequest().answer(7)
        await task.finish()
        recorder.expectRecorded(
            .began, .retried(1, after: Trouble.numbered(1)), .retried(2, after: Trouble.numbered(2)), .succeeded(7),
            .completed)
        #expect(await task.outcome == .success(7))
    }

    @Test("When the retries are used up, the last error ends the run")
    func usedUp() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1).retry(1))
        try await provider.waitForRequest().fail(Trouble.first)
        try await provider.waitForRequest().fail(Trouble.second)
        await task.finish()
        recorder.expectRecorded(.began, .retried(1, after: Trouble.first), .failed(Trouble.second), .completed)
        #expect(provider.requestCount == 2)
    }

    @Test("Each attempt has the input of the call")
    func sameInput() async throws {
        let provider = ControlledDataProvider<String, Int>()
        let task = Integrator(provider).prepareCall("apple").retry(1).call()
        let first = try await provider.waitForRequest()
        first.fail(Trouble.first)
        let second = try await provider.waitForRequest()
        second.answer(1)
        await task.finish()
        #expect(first.input == "apple")
        #expect(second.input == "apple")
    }

    @Test("An error that the condition does not want ends the run")
    func condition() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let call = Integrator(provider).prepareCall(1)
        let task = recorder.call(call.retry(5) { $0 as? Trouble == .first })
        try await provider.waitForRequest().fail(Trouble.first)
        try await provider.waitForRequest().fail(Trouble.second)
        await task.finish()
        recorder.expectRecorded(.began, .retried(1, after: Trouble.first), .failed(Trouble.second), .completed)
    }

    @Test("A cancellation from below is never retried, and no condition is asked about it")
    func cancellationIsNotRetried() async {
        let asked = Atomic(0)
        for error in [CancellationError(), IntegrationError.cancelled(.superseded)] as [any Error] {
            let call = Integrator(Failing(error)).prepareCall(1)
                .retry(5) { _ in asked.add(1, ordering: .relaxed).newValue > 0 }
            await recorder.call(call).finish()
        }
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed, .began, .cancelled(.superseded), .completed)
        #expect(asked.load(ordering: .relaxed) == 0)
    }

    @Test("A cancel during a later attempt ends the run")
    func cancelDuringRetry() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = recorder.call(Integrator(provider).prepareCall(1).retry(5))
        try await provider.waitForRequest().fail(Trouble.first)
        let second = try await provider.waitForRequest()
        task.cancel()
        try await second.waitUntilEnded()
        await task.finish()
        recorder.expectRecorded(.began, .retried(1, after: Trouble.first), .cancelled(.cancelled), .completed)
        #expect(provider.requestCount == 2)
    }

    @Test("A cancel from onRetry ends the run before another attempt, and later onRetry handlers don't hear")
    func cancelFromOnRetry() async {
        let integrator = Integrator(Failing(Trouble.first))
        let task = recorder.call(integrator.prepareCall(1).onRetry { _, _ in integrator.cancel() }.retry(5))
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }

    @Test("A stream is retried before its first value")
    func streamBeforeItsFirstValue() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1).retry(1))
        try await stream.waitForRequest().fail(Trouble.first)
        let second = try await stream.waitForRequest()
        second.send(1)
        second.finish()
        await task.finish()
        recorder.expectRecorded(.began, .retried(1, after: Trouble.first), .succeeded(1), .completed)
    }

    @Test("A stream without a value is a failure like any other, and is retried")
    func streamWithoutValue() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1).retry(1))
        try await stream.waitForRequest().finish()
        try await stream.waitForRequest().finish()
        await task.finish()
        let noAnswer = DataProviderError.noAnswer
        recorder.expectRecorded(.began, .retried(1, after: noAnswer), .failed(noAnswer), .completed)
    }

    @Test("A stream that has delivered a value is not retried")
    func streamAfterAValue() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = recorder.call(Integrator(stream).prepareCall(1).retry(5))
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.first)
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(1), .failed(Trouble.first), .completed)
        #expect(stream.requestCount == 1)
    }

    @Test("A retry keeps the place in the queue")
    func keepsItsPlace() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .queue)
        let first = integrator.prepareCall(1).retry(1).call()
        let second = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)
        let retried = try await provider.waitForRequest()
        #expect(retried.input == 1)
        retried.answer(1)
        await first.finish()
        let next = try await provider.waitForRequest()
        #expect(next.input == 2)
        next.answer(2)
        await second.finish()
    }

    @Test("A retry keeps the place of .only")
    func keepsThePlaceOfOnly() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).retry(1).call()
        try await provider.waitForRequest().fail(Trouble.first)
        let retried = try await provider.waitForRequest()
        #expect(await integrator.prepareCall(2).call().outcome == .cancelled(.ignored))
        retried.answer(1)
        await first.finish()
        #expect(await first.outcome == .success(1))
    }

    @Test("The integrator's onRetry hears of it before the call's")
    func integratorFirst() async {
        let integrator = Integrator(Failing(Trouble.first))
        integrator.onRetry { [log] attempt, _ in log.add("integrator \(attempt)") }
        await integrator.prepareCall(1).onRetry { [log] attempt, _ in log.add("call \(attempt)") }.retry(2).call()
            .finish()
        #expect(log.entries == ["integrator 1", "call 1", "integrator 2", "call 2"])
    }
}
