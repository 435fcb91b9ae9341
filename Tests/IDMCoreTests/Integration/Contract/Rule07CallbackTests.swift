import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(
    "Rule 7: a callback provider is heard once, and fails the call if it drops its completion", .timeLimit(.ample))
@MainActor
struct Rule07CallbackTests {
    private let callbacks = ControlledCallbackDataProvider<Int, Int>()
    private let log = Log()
    private let gone = Signal()

    private func call() -> IntegrationTask<Int> {
        Integrator(callbacks).prepareCall(1).recorded(in: log).opening(gone).call()
    }

    @Test("The first of two answers is heard", arguments: [Result<Int, Trouble>.success(2), .failure(.second)])
    func twice(second: Result<Int, Trouble>) async throws {
        let task = call()
        let request = try await callbacks.nextRequest()
        request.answer(1)
        request.complete(second.mapError { $0 })
        await task.finish()
        request.complete(second.mapError { $0 })
        try await gone.wait()
        #expect(log.entries == ["begin", "success 1", "completion"])
    }

    @Test("The first of two answers is heard if it is an error")
    func errorFirst() async throws {
        let task = call()
        let request = try await callbacks.nextRequest()
        request.fail(Trouble.first)
        request.answer(1)
        try await gone.wait()
        #expect(log.entries == ["begin", "error first", "completion"])
        #expect(await task.outcome.error as? Trouble == .first)
    }

    @Test("An answer after the cancel is not heard")
    func afterCancel() async throws {
        let task = call()
        let request = try await callbacks.nextRequest()
        task.cancel()
        request.answer(1)
        try await gone.wait()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        #expect(request.cancelCount == 1)
    }

    @Test("A completion that is dropped fails the call with noAnswer")
    func dropped() async throws {
        let task = call()
        let request = try await callbacks.nextRequest()
        request.drop()
        try await gone.wait()
        #expect(log.entries == ["begin", "error \(DataProviderError.noAnswer)", "completion"])
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
        let task = Integrator(Forgetful()).prepareCall(1).recorded(in: log).call()
        await task.finish()
        #expect(log.entries == ["begin", "error \(DataProviderError.noAnswer)", "completion"])
    }

    @Test("Dropping the completion after an answer, or after a cancel, adds nothing", arguments: [false, true])
    func droppedLate(isCancelled: Bool) async throws {
        let task = call()
        let request = try await callbacks.nextRequest()
        if isCancelled { task.cancel() } else { request.answer(1) }
        request.drop()
        try await gone.wait()
        #expect(log.entries == ["begin", isCancelled ? "cancel cancelled" : "success 1", "completion"])
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
        await Integrator(Eager()).prepareCall(1).recorded(in: log).call().finish()
        #expect(log.entries == ["begin", "success 1", "completion"])
    }
}
