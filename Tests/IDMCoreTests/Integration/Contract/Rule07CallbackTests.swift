import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(
    "Rule 7: a callback provider is heard once, and fails the call if it drops its completion", .inScope,
    .timeLimit(.ample))
@MainActor
struct Rule07CallbackTests {
    private let callbacks = ControlledCallbackDataProvider<Int, Int>()
    private let recorder = IntegrationRecorder<Int>()
    private let gone = Signal()

    private func call() -> IntegrationTask<Int> {
        recorder.call(Integrator(callbacks).prepareCall(1).opening(gone))
    }

    @Test("The first of two answers is heard", arguments: [Result<Int, Trouble>.success(2), .failure(.second)])
    func twice(second: Result<Int, Trouble>) async throws {
        let task = call()
        let request = try await callbacks.waitForRequest()
        request.answer(1)
        request.complete(second.mapError { $0 })
        await task.finish()
        request.complete(second.mapError { $0 })
        try await gone.wait()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }

    @Test("The first of two answers is heard if it is an error")
    func errorFirst() async throws {
        let task = call()
        let request = try await callbacks.waitForRequest()
        request.fail(Trouble.first)
        request.answer(1)
        try await gone.wait()
        recorder.expectRecorded(.began, .failed(Trouble.first), .completed)
        #expect(await task.outcome.error as? Trouble == .first)
    }

    @Test("An answer after the cancel is not heard")
    func afterCancel() async throws {
        let task = call()
        let request = try await callbacks.waitForRequest()
        task.cancel()
        request.answer(1)
        try await gone.wait()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
        #expect(request.cancelCount == 1)
    }

    @Test("A completion that is dropped fails the call with noAnswer")
    func dropped() async throws {
        let task = call()
        let request = try await callbacks.waitForRequest()
        request.drop()
        try await gone.wait()
        recorder.expectRecorded(.began, .failed(DataProviderError.noAnswer), .completed)
        guard case .failure(DataProviderError.noAnswer) = await task.outcome else {
            Issue.record("ended otherwise")
            return
        }
    }

    @Test("A completion that is never stored fails the call with noAnswer")
    func neverStored() async {
        struct Forgetful: CallbackDataProvider {
            func request(
                _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
            ) -> CancelHandler? { nil }
        }
        let task = recorder.call(Integrator(Forgetful()).prepareCall(1))
        await task.finish()
        recorder.expectRecorded(.began, .failed(DataProviderError.noAnswer), .completed)
    }

    @Test("Dropping the completion after an answer, or after a cancel, adds nothing", arguments: [false, true])
    func droppedLate(isCancelled: Bool) async throws {
        let task = call()
        let request = try await callbacks.waitForRequest()
        if isCancelled { task.cancel() } else { request.answer(1) }
        request.drop()
        try await gone.wait()
        recorder.expectRecorded(.began, isCancelled ? .cancelled(.cancelled) : .succeeded(1), .completed)
    }

    @Test("An answer before the request has returned is heard")
    func synchronous() async {
        struct Eager: CallbackDataProvider {
            func request(
                _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
            ) -> CancelHandler? {
                completion(.success(input))
                completion(.success(input + 1))
                return nil
            }
        }
        await recorder.call(Integrator(Eager()).prepareCall(1)).finish()
        recorder.expectRecorded(.began, .succeeded(1), .completed)
    }
}
