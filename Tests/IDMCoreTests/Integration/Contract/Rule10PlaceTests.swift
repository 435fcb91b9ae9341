import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 10: .only and .latest free their place at the commit", .inScope, .timeLimit(.ample))
@MainActor
struct Rule10PlaceTests {
    private let log = Log()

    @Test(arguments: [1, -1], [ExecutingType.only, .latest])
    func `the place is free while the terminal handlers run`(input: Int, type: ExecutingType) async throws {
        let (stage, integrator) = (Stage(), Integrator(FailsBelowZero(), executing: type))
        let first = integrator.prepareCall(input).onSuccess { [log] _ in log.add("end") }
            .onError { [log] _ in log.add("end") }
        let task = stage.here { stage in first.onCompletion { [log] in log.add("completion") } }
            .onCancel { [log] in log.add("cancel \($0)") }.call()
        // The end is decided, and the last handler waits for its actor.
        try await stage.executor.waitForJobs()

        #expect(await integrator.prepareCall(2).call().outcome == .success(2))
        #expect(log.entries == ["end"])
        stage.executor.open()
        await task.finish()

        #expect(log.entries == ["end", "completion"])
    }

    @Test func `the place of a cancelled call is free while its deaf provider runs`() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .only)
        let first = integrator.prepareCall(1).call()
        let late = try await provider.waitForRequest()
        first.cancel()

        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        // The late answer doesn't free the place of the second call.
        late.answer(1)

        #expect(await integrator.prepareCall(3).call().outcome == .cancelled(.ignored))
        request.answer(2)
        #expect(await second.outcome == .success(2))
    }

    @Test(arguments: [ExecutingType.only, .queue(limit: 0), .queue])
    func `a stream keeps its place until it has ended`(type: ExecutingType) async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let integrator = Integrator(stream, executing: type)
        let first = integrator.prepareCall(1).recorded(in: log).call()
        let second = integrator.prepareCall(2).call()
        let request = try await stream.waitForRequest()
        request.send(1)
        try await log.contains("success 1")
        #expect(stream.requestCount == 1)

        request.finish()
        await first.finish()
        if type != .queue { #expect(await second.outcome == .cancelled(.ignored)) }
        let last = type == .queue ? second : integrator.prepareCall(2).call()

        #expect(try await stream.waitForRequest().input == 2)
        last.cancel()
        await last.finish()
    }

    @Test func `a queue starts the next call after the completion of the first`() async throws {
        let (stage, provider) = (Stage(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(provider, executing: .queue(limit: 0))
        let call = integrator.prepareCall(1)
        let task = stage.here { stage in call.onCompletion { [log] in log.add("completion") } }.onSuccess { _ in }
            .call()
        try await provider.waitForRequest().answer(1)
        try await stage.executor.waitForJobs()
        // The end of the first call is decided: a second call may wait, a third one may not.
        let second = integrator.prepareCall(2).recorded(in: log).call()
        #expect(await integrator.prepareCall(3).call().outcome == .cancelled(.ignored))
        #expect(provider.requestCount == 1)

        stage.executor.open()
        await task.finish()
        try await provider.waitForRequest().answer(2)
        await second.finish()

        #expect(log.entries == ["completion", "begin", "success 2", "completion"])
    }

    // MARK: Chained calls

    @Test(arguments: [ExecutingType.only, .queue, .latest])
    func `a chained call and a call that waits for another hold no place`(type: ExecutingType) async throws {
        let other = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(Echo<Int>(), executing: type)
        let first = integrator.prepareCall(1).nextCompletion(Integrator(other).prepareCall(0)).call()
        let second = integrator.prepareCall(2).after(Integrator(other).prepareCall(0)).call()
        let requests = [try await other.waitForRequest(), try await other.waitForRequest()]

        #expect(await integrator.prepareCall(3).call().outcome == .success(3))
        for request in requests { request.answer(0) }
        await first.finish()
        #expect(await second.outcome == .success(2))
    }
}
