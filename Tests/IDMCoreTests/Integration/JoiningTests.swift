import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Joined calls", .inScope, .timeLimit(.ample))
@MainActor
struct JoiningTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let integrator: Integrator<Int, Int>
    /// One for each of several calls.
    private let recorders = (0..<5).map { _ in IntegrationRecorder<Int>() }

    init() {
        integrator = Integrator(provider, executing: .only(joining: true))
    }

    @Test("share one request, with the input of the first, and each hears all its own handlers")
    func share() async throws {
        let tasks = (0..<5).map { recorders[$0].call(integrator.prepareCall($0 + 1)) }
        let request = try await provider.waitForRequest()
        #expect(request.input == 1)
        request.answer(7)
        for (recorder, task) in zip(recorders, tasks) {
            await task.finish()
            recorder.expectRecorded(.began, .succeeded(7), .completed)
        }
        #expect(provider.requestCount == 1)
    }

    @Test("fail together")
    func fail() async throws {
        let tasks = (0..<3).map { recorders[$0].call(integrator.prepareCall($0)) }
        try await provider.waitForRequest().fail(Trouble.first)
        for (recorder, task) in zip(recorders, tasks) {
            await task.finish()
            recorder.expectRecorded(.began, .failed(Trouble.first), .completed)
        }
    }

    @Test("leave alone, also the first", arguments: 0..<3, [false, true])
    func leave(index: Int, isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let integrator = Integrator(provider, executing: .only(joining: true))
        let tasks = (0..<3).map { recorders[$0].call(integrator.prepareCall($0)) }
        let request = try await provider.waitForRequest()
        tasks[index].cancel()
        await tasks[index].finish()
        recorders[index].expectRecorded(.began, .cancelled(.cancelled), .completed)
        #expect(!request.isCancelled)
        request.answer(7)
        for (other, task) in tasks.enumerated() where other != index {
            await task.finish()
            recorders[other].expectRecorded(.began, .succeeded(7), .completed)
        }
        #expect(!request.isCancelled)
    }

    @Test("cancel the provider when the last one leaves", arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
    func lastOneOut(order: [Int]) async throws {
        let tasks = (0..<3).map { integrator.prepareCall($0).call() }
        let request = try await provider.waitForRequest()
        for (count, index) in order.enumerated() {
            #expect(!request.isCancelled, "after \(count)")
            tasks[index].cancel()
        }
        try await request.waitUntilCancelled()
        for task in tasks { #expect(await task.outcome == .cancelled(.cancelled)) }
    }

    @Test("all end when the integrator is cancelled, and so does the request")
    func cancelAll() async throws {
        let tasks = (0..<3).map { integrator.prepareCall($0).call() }
        let request = try await provider.waitForRequest()
        integrator.cancel()
        try await request.waitUntilCancelled()
        for task in tasks { #expect(await task.outcome == .cancelled(.cancelled)) }
    }

    @Test("are followed by a request of its own once they have ended")
    func afterwards() async throws {
        let first = integrator.prepareCall(1).call()
        try await provider.waitForRequest().answer(1)
        await first.finish()
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        request.answer(2)
        #expect(await second.outcome == .success(2))
    }

    @Test("are followed by a request of its own after a cancel, though the provider is deaf")
    func afterADeafOne() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .only(joining: true))
        let first = integrator.prepareCall(1).call()
        let hung = try await provider.waitForRequest()
        first.cancel()
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        hung.answer(1)
        request.answer(2)
        #expect(await second.outcome == .success(2))
        #expect(await first.outcome == .cancelled(.cancelled))
    }

    @Test("share what runs as they are made, though it ends before their beginning is heard", arguments: [false, true])
    func lateBeginning(isHeld: Bool) async throws {
        let (stage, log, gate) = (Stage(), Log(), provider)
        let spy = SpyDataProvider(
            ClosureDataProvider { (input: Int) in input == 1 ? try await gate.request(input) : input })
        let integrator = Integrator(spy, executing: .only(joining: true))
        let first = integrator.prepareCall(1).call()
        let request = try await gate.waitForRequest()
        var call = stage.record(integrator.prepareCall(2), in: log)
        if isHeld { call = call.after(Integrator(Echo<Int>()).prepareCall(0)) }
        let second = call.call()
        try await stage.executor.waitForJobs()
        request.answer(7)
        await first.finish()
        stage.executor.open()
        await second.finish()
        #expect(log.entries == ["begin", "success 7", "completion"])
        #expect(spy.inputs == [1])
    }

    @Test("ask with the input of the first, also when another one comes to ask before it")
    func lateFirst() async throws {
        let (stage, log) = (Stage(), Log())
        let first = stage.record(integrator.prepareCall(1), in: log).call()
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 1)
        request.answer(7)
        #expect(await second.outcome == .success(7))
        stage.executor.open()
        await first.finish()
        #expect(log.entries == ["begin", "success 7", "completion"])
        #expect(provider.requestCount == 1)
    }

    @Test("leave nothing to share when they are cancelled before their beginning is heard")
    func cancelledBeforeBeginning() async throws {
        let (stage, log) = (Stage(), Log())
        let first = stage.record(integrator.prepareCall(1), in: log).call()
        first.cancel()
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        request.answer(7)
        #expect(await second.outcome == .success(7))
        stage.executor.open()
        await first.finish()
        #expect(log.entries == ["cancel cancelled"])
    }

    @Test("leave their place at the commit: a call from a terminal handler makes a request of its own")
    func callFromAHandler() async throws {
        var again: IntegrationTask<Int>?
        let task = integrator.prepareCall(1)
            .onSuccess { _ in again = integrator.prepareCall(2).call() }
            .call()
        try await provider.waitForRequest().answer(1)
        await task.finish()
        let request = try await provider.waitForRequest()
        #expect(request.input == 2)
        request.answer(2)
        #expect(try await #require(again).outcome == .success(2))
    }

    @Test("hear the progress of the request, all of them")
    func progress() async throws {
        let tasks = (0..<2).map { recorders[$0].call(integrator.prepareCall($0)) }
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(7)
        for (recorder, task) in zip(recorders, tasks) {
            await task.finish()
            recorder.expectRecorded(.began, .progressed(0.5), .succeeded(7), .completed)
        }
    }

    @Test("share by lane")
    func lanes() async throws {
        let integrator = Integrator(provider, executing: .only(joining: true), lane: { $0 % 2 })
        let tasks = (0..<6).map { integrator.prepareCall($0).call() }
        for _ in 0..<2 {
            let request = try await provider.waitForRequest()
            request.answer(request.input % 2)
        }
        for (index, task) in tasks.enumerated() { #expect(await task.outcome == .success(index % 2)) }
        #expect(provider.requestCount == 2)
    }

    @Test("hear the values of a stream, a late one from the latest value on")
    func stream() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let integrator = Integrator(stream, executing: .only(joining: true))
        let (early, late) = (recorders[0], recorders[1])
        let first = early.call(integrator.prepareCall(1))
        let request = try await stream.waitForRequest()
        request.send(1)
        request.send(2)
        try await early.waitForEvents(.began, .succeeded(1), .succeeded(2))
        let second = late.call(integrator.prepareCall(2))
        request.send(3)
        request.finish()
        await first.finish()
        await second.finish()
        early.expectRecorded(.succeeded(3), .completed)
        late.expectRecorded(.began, .succeeded(2), .succeeded(3), .completed)
        #expect(stream.requestCount == 1)
    }

    @Test("that are awaited share the request too")
    func requests() async throws {
        let integrator = integrator
        async let first = integrator.request(1)
        let request = try await provider.waitForRequest()
        let second = integrator.prepareCall(2).call()
        request.answer(7)
        #expect(try await first == 7)
        #expect(try await second.value == 7)
        #expect(provider.requestCount == 1)
    }

    @Test("retry together, each in its own run")
    func retry() async throws {
        let tasks = (0..<2).map { recorders[$0].call(integrator.prepareCall($0).retry(1)) }
        try await provider.waitForRequest().fail(Trouble.first)
        for recorder in recorders[..<2] { try await recorder.waitForEvents(.began, .retried(1, after: Trouble.first)) }
        while true {
            let request = try await provider.waitForRequest()
            request.answer(7)
            if await tasks[0].outcome == .success(7), await tasks[1].outcome == .success(7) { break }
        }
        for (recorder, task) in zip(recorders, tasks) {
            await task.finish()
            recorder.expectRecorded(.succeeded(7), .completed)
        }
    }
}
