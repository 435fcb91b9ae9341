import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 3: retries happen within one call, each with an onRetry", .inScope, .timeLimit(.ample))
@MainActor
struct Rule03RetryTests {
    private let log = Log()

    /// Answers with the next result of a list, each time it is asked. Counts.
    private struct Answers: DataProvider {
        let list: [Result<Int, any Error>]
        let inputs = Observed<[Int]>([])

        func request(_ input: Int) async throws -> Int {
            let index = inputs.change { inputs in
                inputs.append(input)
                return inputs.count - 1
            }
            return try list[index].get()
        }
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let retries: Int
        let answers: [Result<Int, any Error>]
        let events: [String]
        var condition: @Sendable (any Error) -> Bool = { _ in true }
    }

    private nonisolated static let cases = [
        Case(
            testDescription: "each failure before the value is a retry", retries: 2,
            answers: [.failure(Trouble.numbered(1)), .failure(Trouble.numbered(2)), .success(7)],
            events: ["retry 1 after numbered(1)", "retry 2 after numbered(2)", "success 7"]),
        Case(
            testDescription: "the last error ends the call when no retry is left", retries: 1,
            answers: [.failure(Trouble.first), .failure(Trouble.second)],
            events: ["retry 1 after first", "error second"]),
        Case(
            testDescription: "an error that the condition refuses ends the call", retries: 5,
            answers: [.failure(Trouble.first), .failure(Trouble.second)],
            events: ["retry 1 after first", "error second"], condition: { $0 as? Trouble == .first }),
        Case(
            testDescription: "a CancellationError is not retried", retries: 5,
            answers: [.failure(CancellationError())], events: ["cancel cancelled"]),
        Case(
            testDescription: "a cancellation with a reason is not retried", retries: 5,
            answers: [.failure(IntegrationError.cancelled(.superseded))], events: ["cancel superseded"]),
        Case(
            testDescription: "no retries", retries: 0, answers: [.failure(Trouble.first)], events: ["error first"]),
        Case(
            testDescription: "a negative number of retries", retries: .min, answers: [.failure(Trouble.first)],
            events: ["error first"]),
    ]

    @Test(arguments: cases)
    func `a call is retried as its rule says, with its input`(_ test: Case) async {
        let provider = Answers(list: test.answers)

        await Integrator(provider).prepareCall(1).retry(test.retries, when: test.condition).recorded(in: log).call()
            .finish()

        #expect(log.entries == ["begin"] + test.events + ["completion"])
        #expect(provider.inputs.value == test.answers.map { _ in 1 })
    }

    @Test(arguments: [
        ([Listed(error: Trouble.first), Listed(1)], ["retry 1 after first", "success 1"]),
        (
            [Listed(), Listed()],
            ["retry 1 after \(DataProviderError.noAnswer)", "error \(DataProviderError.noAnswer)"]
        ),
        ([Listed(1, error: Trouble.first)], ["success 1", "error first"]),
    ])
    func `a stream is retried only before its first value`(attempts: [Listed], events: [String]) async {
        struct Streams: StreamDataProvider {
            let attempts: [Listed]
            let count = Observed(0)
            func values(for input: Int) -> Listed.Values { attempts[count.countOne() - 1].values(for: 0) }
        }

        await Integrator(Streams(attempts: attempts)).prepareCall(1).retry(1).recorded(in: log).call().finish()

        #expect(log.entries == ["begin"] + events + ["completion"])
    }

    @Test func `a cancel during a later attempt ends the call`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Integrator(provider).prepareCall(1).retry(5).recorded(in: log).call()
        try await provider.waitForRequest().fail(Trouble.first)
        let second = try await provider.waitForRequest()

        task.cancel()
        try await second.waitUntilEnded()
        await task.finish()

        #expect(log.entries == ["begin", "retry 1 after first", "cancel cancelled", "completion"])
        #expect(provider.requestCount == 2)
    }

    @Test func `an endless retry of a provider that fails at once can be cancelled`() async {
        let task = Integrator(Failing(Trouble.first)).prepareCall(1).retry(.max).call(isolation: nil)
        task.cancel()
        await task.finish()

        #expect(await task.outcome == .cancelled(.cancelled))
    }

    @Test func `a cancel in onRetry skips later onRetry handlers and the attempt`() async {
        let integrator = Integrator(Failing(Trouble.first))

        await integrator.prepareCall(1).onRetry { _, _ in integrator.cancel() }.recorded(in: log).retry(5).call()
            .finish()

        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }

    @Test(arguments: [(ExecutingType.queue, true), (.only, false)])
    func `a retried call keeps its place`(type: ExecutingType, waits: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: type)
        let first = integrator.prepareCall(1).retry(1).call()
        let second = integrator.prepareCall(2).call()
        try await provider.waitForRequest().fail(Trouble.first)

        let retried = try await provider.waitForRequest()
        #expect(retried.input == 1)
        retried.answer(1)
        if waits { try await provider.waitForRequest().answer(2) }

        #expect(await first.outcome == .success(1))
        #expect(await second.outcome == (waits ? .success(2) : .cancelled(.ignored)))
    }
}
