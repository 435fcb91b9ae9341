import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(
    "Rule 10: .only and .latest free their place at the commit, before the terminal handlers", .inScope,
    .timeLimit(.ample))
@MainActor
struct Rule10PlaceTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test("Under .only the place is free while the terminal handlers still run", arguments: [1, -1])
    func freeAtTheCommit(input: Int) async throws {
        let (stage, integrator) = (Stage(), Integrator(FailsBelowZero(), executing: .only))
        let first = integrator.prepareCall(input)
            .onSuccess { [log] in log.add("success \($0)") }
            .onError { [log] in log.add("error \($0)") }
        let task = stage.here { stage in first.onCompletion { [log] in log.add("completion") } }.call()
        // The end is decided, and its last handler hasn't run.
        try await stage.executor.waitForJobs()
        #expect(log.count == 1)
        let second = integrator.prepareCall(2).call()
        #expect(await second.outcome == .success(2))
        #expect(log.count == 1)
        stage.executor.open()
        await task.finish()
        #expect(log.entries.last == "completion")
    }

    @Test("Under .only the place is free once the running call is cancelled, though its provider is deaf")
    func freeAtTheCancel() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        let hung = try await provider.waitForRequest()
        first.cancel()
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        // The one that was left behind has nothing to say about the place.
        hung.answer(1)
        #expect(await integrator.prepareCall(3).call().outcome == .cancelled(.ignored))
        request.answer(2)
        #expect(await second.outcome == .success(2))
    }

    @Test("Under .only a stream keeps its place until it has ended")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let integrator = Integrator(stream, executing: .only)
        let first = recorder.call(integrator.prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        try await recorder.waitForEvents(.began, .succeeded(1))
        #expect(await integrator.prepareCall(2).call().outcome == .cancelled(.ignored))
        request.finish()
        await first.finish()
        recorder.expectRecorded(.completed)
        let second = integrator.prepareCall(3).call()
        #expect(try await stream.waitForRequest().input == 3)
        second.cancel()
        await second.finish()
    }

    @Test("Under .latest a call that has committed is not superseded by one that its handlers make")
    func latest() async throws {
        let (stage, integrator) = (Stage(), Integrator(Echo<Int>(), executing: .latest))
        let first = integrator.prepareCall(1).onSuccess { [log] in log.add("success \($0)") }
        let task = stage.here { stage in first.onCompletion { [log] in log.add("completion") } }
            .onCancel { [log] in log.add("cancel \($0)") }
            .call()
        try await stage.executor.waitForJobs()
        let second = integrator.prepareCall(2).call()
        #expect(await second.outcome == .success(2))
        stage.executor.open()
        await task.finish()
        #expect(log.entries == ["success 1", "completion"])
        #expect(await task.outcome == .success(1))
    }

    @Test func `a queue starts the next call after the completion, which may be submitted before`() async throws {
        let (stage, provider) = (Stage(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider, executing: .queue(limit: 0))
        let call = integrator.prepareCall(1)
        let task = stage.here { stage in call.onCompletion { [log] in log.add("completion") } }
            .onSuccess { [log] in log.add("success \($0)") }
            .call()
        try await provider.waitForRequest().answer(1)
        try await stage.executor.waitForJobs()
        // The end of the first call is decided: the second may wait, the third may not.
        let second = integrator.prepareCall(2).call()
        #expect(await integrator.prepareCall(3).call().outcome == .cancelled(.ignored))
        #expect(provider.requestCount == 1)
        stage.executor.open()
        await task.finish()
        try await provider.waitForRequest().answer(2)
        #expect(await second.outcome == .success(2))
    }

    // MARK: Chained calls

    @Test("A chained call never holds the place of the call before", arguments: [ExecutingType.only, .queue, .latest])
    func chained(type: ExecutingType) async throws {
        let next = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(Echo<Int>(), executing: type)
        let chained = Integrator(next).prepareCall(0).recorded(in: log, as: "next")
        let task = integrator.prepareCall(1).nextCompletion(chained).call()
        let request = try await next.waitForRequest()
        #expect(await integrator.prepareCall(2).call().outcome == .success(2))
        request.answer(0)
        await task.finish()
        #expect(log.entries(of: "next") == ["begin", "success 0", "completion"])
    }

    @Test(
        "A chained call of the same integrator finds the place free", arguments: [ExecutingType.only, .queue, .latest])
    func chainedToItself(type: ExecutingType) async {
        let integrator = Integrator(Echo<Int>(), executing: type)
        let second = integrator.prepareCall(2).recorded(in: log, as: "second")
        await integrator.prepareCall(1).recorded(in: log, as: "first").nextSuccess(second).call().finish()
        #expect(
            log.entries == ["begin", "success 1", "completion"].map { "first: \($0)" }
                + ["begin", "success 2", "completion"].map { "second: \($0)" })
    }

    @Test(
        "A call that waits for another one holds no place meanwhile", arguments: [ExecutingType.only, .queue, .latest])
    func waitingForAnother(type: ExecutingType) async throws {
        let first = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(Echo<Int>(), executing: type)
        let task = integrator.prepareCall(1).after(Integrator(first).prepareCall(0)).call()
        let request = try await first.waitForRequest()
        #expect(await integrator.prepareCall(2).call().outcome == .success(2))
        request.answer(0)
        #expect(await task.outcome == .success(1))
    }
}
