import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Calls after a call", .timeLimit(.ample))
@MainActor
struct ChainingTests {
    private let log = Log()
    private let provider = ControlledDataProvider<Int, Int>()

    private func next(_ name: String) -> IntegrationCall<Int> {
        Integrator(Echo<Int>()).prepareCall(0).onCompletion { [log] in log.add(name) }
    }

    @Test("nextSuccess, nextError and nextCompletion follow the end that is theirs", arguments: [1, -1])
    func kinds(input: Int) async {
        await Integrator(FailsBelowZero()).prepareCall(input)
            .nextSuccess(next("success")).nextError(next("error")).nextCompletion(next("completion"))
            .call().finish()
        #expect(log.entries == [input > 0 ? "success" : "error", "completion"])
    }

    @Test("A cancelled call is followed by nextCompletion alone", arguments: [false, true])
    func afterCancel(byTask: Bool) async throws {
        let integrator = Integrator(provider)
        let task = integrator.prepareCall(1)
            .nextSuccess(next("success")).nextError(next("error")).nextCompletion(next("completion"))
            .call()
        _ = try await provider.waitForRequest()
        if byTask { task.cancel() } else { integrator.cancel() }
        await task.finish()
        #expect(log.entries == ["completion"])
    }

    @Test("A call that never started starts nothing")
    func unstarted() async {
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        await integrator.prepareCall(2).nextSuccess(next("success")).nextError(next("error"))
            .nextCompletion(next("completion")).call().finish()
        #expect(log.entries == [])
        first.cancel()
        await first.finish()
    }

    @Test("The next call begins after the handlers of this one, its onCompletion among them")
    func order() async {
        let second = Integrator(Echo<Int>()).prepareCall(2).recorded(in: log, as: "second")
        await Integrator(Echo<Int>()).prepareCall(1).nextSuccess(second).recorded(in: log, as: "first").call().finish()
        let run = { (name: String, value: Int) in
            ["\(name): begin", "\(name): success \(value)", "\(name): completion"]
        }
        #expect(log.entries == run("first", 1) + run("second", 2))
    }

    @Test("The next call starts in a later turn, whether or not anybody hears of this one", arguments: [false, true])
    func laterTurn(isHeard: Bool) async {
        let asked = ClosureDataProvider<Int, Int> { [log] input in
            log.add("asked")
            return input
        }
        let plain = Integrator(Echo<Int>()).prepareCall(1)
        let task = (isHeard ? plain.onSuccess { _ in } : plain)
            .nextCompletion(Integrator(asked).prepareCall(2)).call()
        #expect(log.entries == [])
        await task.finish()
        #expect(log.entries == ["asked"])
    }

    @Test("A chain of ten thousand calls that nobody hears does not use up the stack")
    func longUnheardChain() async throws {
        let done = Signal()
        Self.recall(Integrator(Echo<Int>()), 10_000, done)
        try await done.wait()
    }

    /// Each call is chained to one that is made in its provider, so that there is no end of it.
    private nonisolated static func recall(_ integrator: Integrator<Int, Int>, _ left: Int, _ done: Signal) {
        guard left > 0 else { return done.open() }
        let next = ClosureDataProvider<Int, Int> { input in
            recall(integrator, left - 1, done)
            return input
        }
        integrator.prepareCall(left).nextSuccess(Integrator(next).prepareCall(0)).call()
    }

    @Test("All that follow start, in the order in which they were added")
    func several() async {
        let names = (1...5).map { "\($0)" }
        var call = Integrator(Echo<Int>()).prepareCall(1)
        for name in names { call = call.nextSuccess(next(name)) }
        await call.call().finish()
        #expect(log.entries == names)
    }

    @Test("A stream is followed once, after its last value")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).recorded(in: log).nextSuccess(next("next")).call()
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.finish()
        await task.finish()
        #expect(log.entries == ["begin", "success 1", "success 2", "success 3", "completion", "next"])
    }

    @Test("A stream that fails after values is followed by nextError alone")
    func failingStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1).nextSuccess(next("success")).nextError(next("error")).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        request.fail(Trouble.first)
        await task.finish()
        #expect(log.entries == ["error"])
    }

    // MARK: The result as an input

    @Test("forwardSuccess hands the value on, and its handlers keep their actor")
    func forwardSuccess() async {
        var heard: [String] = []
        let texts = Integrator(ClosureDataProvider<Int, String> { "number \($0)" })
        await Integrator(Echo<Int>()).prepareCall(7).forwardSuccess(to: texts) { $0.onSuccess { heard.append($0) } }
            .call().finish()
        #expect(heard == ["number 7"])
    }

    @Test("forwardSuccess hands the last value of a stream on, once")
    func forwardOfAStream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Integrator(stream).prepareCall(1)
            .forwardSuccess(to: Integrator(Echo<Int>())) { [log] in $0.recorded(in: log) }.call()
        let request = try await stream.waitForRequest()
        for value in 1...3 { request.send(value) }
        request.finish()
        await task.finish()
        #expect(log.entries == ["begin", "success 3", "completion"])
    }

    @Test("forwardError hands the error on")
    func forwardError() async {
        let reports = Integrator(ClosureDataProvider<any Error, String> { "reported \($0)" })
        await Integrator(Failing(Trouble.first)).prepareCall(1)
            .forwardError(to: reports) { [log] in $0.onSuccess { log.add($0) } }.call().finish()
        #expect(log.entries == ["reported first"])
    }

    @Test("Nothing is handed on that isn't there", arguments: [1, -1])
    func notForwarded(input: Int) async {
        let call = Integrator(FailsBelowZero()).prepareCall(input)
        let numbers = Integrator(
            ClosureDataProvider<Int, Int> { [log] in
                log.add("success"); return $0
            })
        let errors = Integrator(
            ClosureDataProvider<any Error, Int> { [log] _ in
                log.add("error"); return 0
            })
        await call.forwardSuccess(to: numbers).forwardError(to: errors).call().finish()
        #expect(log.entries == [input > 0 ? "success" : "error"])
    }

    // MARK: thenRecall

    @Test(
        "thenRecall tells the handlers of the call again, with a beginning and a completion of its own",
        arguments: [1, -1])
    func thenRecall(input: Int) async {
        let server = Integrator(ValueDataProvider<Void, Int>(2))
        await Integrator(FailsBelowZero()).prepareCall(input).recorded(in: log).thenRecall(with: server).call().finish()
        let first = input > 0 ? "success 1" : "error numbered(-1)"
        #expect(log.entries == ["begin", first, "completion", "begin", "success 2", "completion"])
    }

    @Test("thenRecall does not follow a cancel")
    func thenRecallAfterCancel() async throws {
        let server = Integrator(Echo<Int>())
        let task = Integrator(provider).prepareCall(1).recorded(in: log).thenRecall(with: server, 2).call()
        _ = try await provider.waitForRequest()
        task.cancel()
        await task.finish()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
    }

    // MARK: Cancel

    @Test("After the end a cancel reaches the chained call that runs, and the rest never starts")
    func cancelChained() async throws {
        let third = next("third")
        let second = Integrator(provider).prepareCall(2).recorded(in: log).nextSuccess(third)
        let task = Integrator(Echo<Int>()).prepareCall(1).nextSuccess(second).call()
        let request = try await provider.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        #expect(log.entries == ["begin", "cancel cancelled", "completion"])
        #expect(await task.outcome == .success(1))
    }

    @Test("Between the word that decides the end and the outcome, a cancel cuts the chain as it does after that")
    func cancelAsTheEndIsDecided() async throws {
        let call = Integrator(provider).prepareCall(1).call().execution
        let request = try await provider.waitForRequest()
        _ = call.scheduler.deliver(call.id) { $0.commit(isFinal: true) }
        call.cancelChain(isolation: nil)
        let state = (call.isChainCut, call.isCancelled)
        #expect(state == (true, false))
        request.answer(1)
    }

    @Test("A cancel that races the end on another thread stops the call, or else its chain", arguments: 0..<100)
    nonisolated func cancelRacesTheEnd(round: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Integrator(provider).prepareCall(1).onSuccess { _ in }
            .nextSuccess(Integrator(ControlledDataProvider<Int, Int>()).prepareCall(2)).call()
        let request = try await provider.waitForRequest()
        async let answered: Void = Task { request.answer(1) }.value
        async let cancelled: Void = Task { task.cancel() }.value
        _ = await (answered, cancelled)
        let isChainCut = task.execution.isChainCut
        #expect(await task.outcome == .cancelled(.cancelled) || isChainCut)
        task.cancel()
        await task.finish()
    }

    @Test("A cancel in the last handlers keeps the chain from starting")
    func cancelInCompletion() async throws {
        var task: IntegrationTask<Int>?
        task = Integrator(provider).prepareCall(1).onCompletion { task?.cancel() }.nextCompletion(next("next")).call()
        try await provider.waitForRequest().answer(1)
        await task?.finish()
        #expect(log.entries == [])
    }
}
