import IDMCore
import IDMTesting
import TestSupport
import Testing

private typealias Completion = @Sendable (Result<Int, any Error>) -> Void

/// A callback provider made of a closure.
private struct Callback: CallbackDataProvider {
    let body: @Sendable (Int, @escaping Completion) -> CancelHandler?

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        body(input, completion)
    }
}

@Suite(.timeLimit(.ample))
struct CallbackDataProviderTests {
    private static let rows: [(name: String, expected: String, body: @Sendable (Int, @escaping Completion) -> Void)] = [
        ("a synchronous answer", "2", { $1(.success($0 + 1)) }),
        (
            "three answers", "1",
            { _, completion in
                for result: Result<Int, any Error> in [.success(1), .success(2), .failure(Trouble.first)] {
                    completion(result)
                }
            }
        ),
        ("an error", "first", { $1(.failure(Trouble.first)) }),
        ("a released completion", "\(DataProviderError.noAnswer)", { _, _ in }),
        ("a later answer", "7", { _, completion in Task { completion(.success(7)) } }),
    ]

    @Test(arguments: rows.indices)
    func `the first answer of the callback ends the request`(row: Int) async throws {
        let (_, expected, body) = Self.rows[row]
        let provider = Callback { input, completion in
            body(input, completion)
            return nil
        }

        let answer: String
        do { answer = "\(try await provider.request(1))" } catch { answer = "\(error)" }

        #expect(answer == expected)
    }

    @Test func `a cancel calls the handler once and ends the request at once`() async throws {
        let (log, kept) = (Log(), Observed<[Completion]>([]))
        let provider = Callback { _, completion in
            kept.change { $0.append(completion) }
            log.add("asked")
            return { log.add("cancelled") }
        }
        let task = Task { try await provider.request(0) }
        try await log.count(reaches: 1)

        task.cancel()
        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        kept.value[0](.success(1))
        #expect(log.entries == ["asked", "cancelled"])
    }

    enum Moment: CaseIterable { case beforeTheRequest, beforeTheHandler, afterTheAnswer }

    @Test(arguments: Moment.allCases)
    func `a cancel around the start calls the handler only without an answer`(moment: Moment) async throws {
        let (log, isReady) = (Log(), Signal())
        let own = Observed<Task<Int, any Error>?>(nil)
        let provider = Callback { input, completion in
            log.add("asked")
            if moment == .afterTheAnswer { completion(.success(input)) }
            own.value?.cancel()
            // Kept, or its release would be an answer.
            return { withExtendedLifetime(completion) { log.add("cancelled") } }
        }
        let task = Task {
            await isReady.waitIgnoringCancel()
            return try await provider.request(3)
        }
        own.change { $0 = task }
        if moment == .beforeTheRequest { task.cancel() }
        isReady.open()

        let answer = try? await task.value

        #expect(answer == (moment == .afterTheAnswer ? 3 : nil))
        let expected: [Moment: [String]] = [
            .beforeTheRequest: [], .beforeTheHandler: ["asked", "cancelled"], .afterTheAnswer: ["asked"],
        ]
        #expect(log.entries == expected[moment])
    }
}
