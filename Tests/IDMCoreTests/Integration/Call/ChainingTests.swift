import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
@MainActor
struct ChainingTests {
    private let log = Log()
    private let provider = ControlledDataProvider<Int, Int>()

    private func next(_ name: String) -> IntegrationCall<Int> {
        Integrator(Echo<Int>()).prepareCall(0).onCompletion { [log] in log.add(name) }
    }

    /// Adds a next call for each outcome.
    private func linked(_ call: IntegrationCall<Int>) -> IntegrationCall<Int> {
        call.nextSuccess(next("success")).nextError(next("error")).nextCompletion(next("completion"))
            .nextSuccess(next("success again"))
    }

    // MARK: Outcomes

    /// The end of a call.
    enum End: CaseIterable {
        case success, failure, streamSuccess, streamFailure, taskCancel, integratorCancel, unstarted

        var followers: [String] {
            switch self {
            case .success, .streamSuccess: ["success", "completion", "success again"]
            case .failure, .streamFailure: ["error", "completion"]
            case .taskCancel, .integratorCancel: ["completion"]
            case .unstarted: []
            }
        }
    }

    @Test(arguments: End.allCases)
    func `each end starts its own followers, in order`(end: End) async throws {
        switch end {
        case .success: await linked(Integrator(Echo<Int>()).prepareCall(1)).call().finish()
        case .failure: await linked(Integrator(Failing(Trouble.first)).prepareCall(1)).call().finish()
        case .streamSuccess: await linked(Integrator(Listed(1, 2)).prepareCall(1)).call().finish()
        case .streamFailure:
            await linked(Integrator(Listed(1, error: Trouble.first)).prepareCall(1)).call().finish()
        case .taskCancel, .integratorCancel:
            let integrator = Integrator(provider)
            let task = linked(integrator.prepareCall(1)).call()
            _ = try await provider.waitForRequest()
            if end == .taskCancel { task.cancel() } else { integrator.cancel() }
            await task.finish()
        case .unstarted:
            let integrator = Integrator(provider, executing: .only)
            let first = integrator.prepareCall(1).call()
            await linked(integrator.prepareCall(2)).call().finish()
            first.cancel()
            await first.finish()
        }

        #expect(log.entries == end.followers)
    }

    @Test(arguments: [false, true])
    func `a follower starts in a later turn`(hasBeginHandler: Bool) async {
        let asked = ClosureDataProvider<Int, Int> { [log] input in
            log.add("asked")
            return input
        }
        let plain = Integrator(Echo<Int>()).prepareCall(1)
        let task = (hasBeginHandler ? plain.onSuccess { _ in } : plain)
            .nextCompletion(Integrator(asked).prepareCall(2)).call()
        #expect(log.entries == [])
        await task.finish()

        #expect(log.entries == ["asked"])
    }

    // MARK: The result as an input

    @Test func `forwardSuccess passes the last value, and its handlers keep their actor`() async {
        var received: [String] = []
        let texts = Integrator(ClosureDataProvider<Int, String> { "number \($0)" })
        await Integrator(Listed(1, 7)).prepareCall(0).forwardSuccess(to: texts) { $0.onSuccess { received.append($0) } }
            .call().finish()

        #expect(received == ["number 7"])
    }

    @Test(arguments: [1, -1])
    func `a value and an error are forwarded each to its own integrator`(input: Int) async {
        let numbers = Integrator(ClosureDataProvider<Int, String> { "value \($0)" })
        let errors = Integrator(ClosureDataProvider<any Error, String> { "error \($0)" })
        await Integrator(FailsBelowZero()).prepareCall(input)
            .forwardSuccess(to: numbers) { [log] in $0.onSuccess { log.add($0) } }
            .forwardError(to: errors) { [log] in $0.onSuccess { log.add($0) } }
            .call().finish()

        #expect(log.entries == [input > 0 ? "value 1" : "error numbered(-1)"])
    }

    @Test func `a call made inside the closure of forwardSuccess ends as released`() async {
        var made: IntegrationTask<Int>?
        _ = Integrator(Echo<Int>()).prepareCall(1).forwardSuccess(to: Integrator(Echo<Int>())) { call in
            made = call.recorded(in: log).call()
            return call
        }
        await made?.finish()

        #expect(log.entries == ["cancel released"])
    }

    // MARK: thenRecall

    @Test(arguments: [1, -1])
    func `thenRecall repeats the handlers with their own begin and completion`(input: Int) async {
        let server = Integrator(ValueDataProvider<Void, Int>(2))
        await Integrator(FailsBelowZero()).prepareCall(input).recorded(in: log).thenRecall(with: server).call().finish()

        let first = input > 0 ? "success 1" : "error numbered(-1)"
        #expect(log.entries == ["begin", first, "completion", "begin", "success 2", "completion"])
    }

    @Test func `thenRecall does not follow a cancelled call`() async throws {
        let task = Integrator(provider).prepareCall(1).recorded(in: log)
            .thenRecall(with: Integrator(Echo<Int>()), 2).call()
        _ = try await provider.waitForRequest()
        task.cancel()
        await task.finish()

        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }

    // MARK: Cancel

    @Test func `a cancel after the end reaches the running follower and stops the chain`() async throws {
        let second = Integrator(provider).prepareCall(2).recorded(in: log).nextSuccess(next("third"))
        let task = Integrator(Echo<Int>()).prepareCall(1).nextSuccess(second).call()
        let request = try await provider.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()

        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        #expect(await task.outcome == .success(1))
    }

    @Test(arguments: 0..<100)
    nonisolated func `a cancel that races the end stops the call or its chain`(round: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Integrator(provider).prepareCall(1).onSuccess { _ in }
            .nextSuccess(Integrator(ControlledDataProvider<Int, Int>()).prepareCall(2)).call()
        let request = try await provider.waitForRequest()
        async let answered: Void = Task { request.answer(1) }.value
        async let cancelled: Void = Task { task.cancel() }.value
        _ = await (answered, cancelled)

        // The provider of the next call never answers: the task finishes only if that call is cancelled.
        await task.finish()
    }

    @Test func `a cancel in the last handler keeps the chain from starting`() async throws {
        var task: IntegrationTask<Int>?
        task = Integrator(provider).prepareCall(1).onCompletion { task?.cancel() }.nextCompletion(next("next")).call()
        try await provider.waitForRequest().answer(1)
        await task?.finish()

        #expect(log.entries == [])
    }
}
