import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 7: a callback provider answers once, or fails with noAnswer", .inScope, .timeLimit(.ample))
@MainActor
struct Rule07CallbackTests {
    private let log = Log()
    private let gone = Signal()

    /// Actions on the request of a callback provider, in order.
    enum Action {
        case answer(Int), fail, cancel, drop
    }

    private nonisolated static let noAnswer = "error \(DataProviderError.noAnswer)"

    private nonisolated static let cases: [(actions: [Action], end: String)] = [
        ([.answer(1), .answer(2)], "success 1"), ([.answer(1), .fail], "success 1"),
        ([.fail, .answer(1)], "error first"),
        ([.cancel, .answer(1)], "cancel cancelled"), ([.cancel, .fail], "cancel cancelled"),
        ([.drop], noAnswer), ([.answer(1), .drop], "success 1"), ([.cancel, .drop], "cancel cancelled"),
    ]

    @Test(arguments: cases)
    func `the first of several answers ends the call`(actions: [Action], end: String) async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let task = Integrator(callbacks).prepareCall(1).recorded(in: log).opening(gone).call()
        let request = try await callbacks.waitForRequest()

        for action in actions {
            switch action {
            case .answer(let value): request.answer(value)
            case .fail: request.fail(Trouble.first)
            case .cancel: task.cancel()
            case .drop: request.drop()
            }
        }
        try await gone.wait()

        #expect(log.entries == ["begin", end, "completion"])
    }

    @Test(arguments: [([1, 2], "success 1"), ([], noAnswer)])
    func `an answer before request() returns ends the call, none fails it`(answers: [Int], end: String) async {
        await Integrator(Immediate(answers: answers)).prepareCall(1).recorded(in: log).call().finish()

        #expect(log.entries == ["begin", end, "completion"])
    }

    @Test func `a job that answers when its cancel handler releases it takes no lock`() async {
        final class Job: Sendable {
            let completion: @Sendable (Result<Int, any Error>) -> Void
            init(_ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { self.completion = completion }
            func answer() { completion(.success(1)) }
            deinit { completion(.failure(DataProviderError.noAnswer)) }
        }
        struct Jobs: CallbackDataProvider {
            let answer = Observed<@Sendable () -> Void>({})
            func request(
                _ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
            ) -> CancelHandler? {
                let job = Job(completion)
                answer.change { [weak job] in $0 = { job?.answer() } }
                return { _ = job }
            }
        }
        let jobs = Jobs()
        let task = Integrator(jobs).prepareCall(1).call()

        jobs.answer.value()

        #expect(await task.outcome == .success(1))
    }
}
