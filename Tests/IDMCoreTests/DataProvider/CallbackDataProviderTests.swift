import IDMCore
import IDMTesting
import TestSupport
import Testing

/// A callback provider whose doings are closures.
private struct Callback: CallbackDataProvider {
    typealias Completion = @Sendable (Result<Int, any Error>) -> Void
    let body: @Sendable (Int, @escaping Completion) -> CancelHandler?

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        body(input, completion)
    }
}

@Suite("A provider that calls back", .timeLimit(.ample))
struct CallbackDataProviderTests {
    @Test("answers with what it calls back with, also before it has returned")
    func synchronousAnswer() async throws {
        let provider = Callback { input, completion in
            completion(.success(input + 1))
            return nil
        }
        #expect(try await provider.request(1) == 2)
    }

    @Test("is heard once when it answers twice")
    func twoAnswers() async throws {
        let provider = Callback { _, completion in
            completion(.success(1))
            completion(.success(2))
            completion(.failure(Trouble.first))
            return nil
        }
        #expect(try await provider.request(0) == 1)
    }

    @Test("answers from another task, later")
    func laterAnswer() async throws {
        let gate = Signal()
        let provider = Callback { input, completion in
            Task {
                await gate.waitDeaf()
                completion(.success(input))
            }
            return nil
        }
        let task = Task { try await provider.request(7) }
        gate.open()
        #expect(try await task.value == 7)
    }

    @Test("throws the error that it calls back with")
    func failure() async throws {
        let provider = Callback { _, completion in
            completion(.failure(Trouble.first))
            return nil
        }
        await #expect(throws: Trouble.first) { try await provider.request(0) }
    }

    @Test("fails with noAnswer when it lets go of its completion, and doesn't hang")
    func droppedCompletion() async throws {
        let provider = Callback { _, _ in nil }
        await #expect(throws: DataProviderError.noAnswer) { try await provider.request(0) }
    }

    @Test("has its cancel handler called once, and the request ends at once")
    func cancel() async throws {
        let log = Log()
        let isKept = Watched<[Callback.Completion]>([])
        let provider = Callback { _, completion in
            isKept.change { $0.append(completion) }
            log.add("asked")
            return { log.add("cancelled") }
        }
        let task = Task { try await provider.request(0) }
        try await log.count(reaches: 1)
        task.cancel()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // An answer after the cancel isn't heard, and harms nobody.
        isKept.value[0](.success(1))
        try await log.count(reaches: 2)
        #expect(log.entries == ["asked", "cancelled"])
    }

    @Test("has its cancel handler called once also when the cancel came before it was returned")
    func cancelBeforeHandlerIsReturned() async throws {
        let log = Log()
        let own = Watched<Task<Int, any Error>?>(nil)
        let isReady = Signal()
        let isKept = Watched<[Callback.Completion]>([])
        let provider = Callback { _, completion in
            isKept.change { $0.append(completion) }
            own.value?.cancel()
            log.add("returning")
            return { log.add("cancelled") }
        }
        let task = Task {
            await isReady.waitDeaf()
            return try await provider.request(0)
        }
        own.change { $0 = task }
        isReady.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await log.count(reaches: 2)
        #expect(log.entries == ["returning", "cancelled"])
    }

    @Test("doesn't hear a cancel after its answer")
    func cancelAfterAnswer() async throws {
        let (log, next) = (Log(), ControlledDataProvider<Int, Int>())
        let provider = Callback { input, completion in
            completion(.success(input))
            return { log.add("cancelled") }
        }
        let task = Task { try await (provider >>>> next).request(3) }
        let request = try await next.nextRequest()
        task.cancel()
        try await request.cancelled()
        #expect(log.entries.isEmpty)
    }

    @Test("doesn't hear a cancel after its answer, also if that comes before the handler was returned")
    func cancelBetweenAnswerAndHandler() async throws {
        let log = Log()
        let own = Watched<Task<Int, any Error>?>(nil)
        let isReady = Signal()
        let provider = Callback { input, completion in
            completion(.success(input))
            own.value?.cancel()
            return { log.add("cancelled") }
        }
        let task = Task {
            await isReady.waitDeaf()
            return try await provider.request(3)
        }
        own.change { $0 = task }
        isReady.open()
        #expect(try await task.value == 3)
        #expect(log.entries.isEmpty)
    }

    @Test("isn't asked by a task that is already cancelled")
    func alreadyCancelled() async throws {
        let log = Log()
        let isReady = Signal()
        let provider = Callback { _, _ in
            log.add("asked")
            return nil
        }
        let task = Task {
            await isReady.waitDeaf()
            return try await provider.request(0)
        }
        task.cancel()
        isReady.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.entries.isEmpty)
    }

    @Test("composes like any other provider")
    func composes() async throws {
        let provider = Callback { input, completion in
            completion(.success(input + 1))
            return nil
        }
        #expect(try await (provider >>>> Doubler()).request(1) == 4)
    }
}
