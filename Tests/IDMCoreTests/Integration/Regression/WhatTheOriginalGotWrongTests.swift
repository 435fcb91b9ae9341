import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("What the original got wrong", .inScope, .timeLimit(.ample))
@MainActor
struct WhatTheOriginalGotWrongTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()

    @Test(".default called strictly one after another crashed or ran a call twice")
    func defaultOneAfterAnother() async {
        let integrator = Integrator(Echo<Int>())
        for input in 0..<1_000 {
            await recorder.call(integrator.prepareCall(input)).finish()
            recorder.expectRecorded(.began, .succeeded(input), .completed)
        }
    }

    @Test("Releasing an integrator from its own handler trapped", arguments: HandlerKind.allCases)
    func releaseFromItsHandler(kind: HandlerKind) async throws {
        let (gone, leaks) = (Signal(), LeakTracker())
        var integrator: Integrator<Int, Int>? = leaks.track(Integrator(Provoking(kind), cancelsWhenReleased: true))
        _ = integrator?.prepareCall(1).on(kind) { integrator = nil }.retry(1).opening(gone).call()
        try await gone.wait()
        leaks.verify()
    }

    @Test("A sequence returned no cancel handler")
    func sequenceWithoutCancel() async throws {
        let (first, second) = (ControlledDataProvider<Int, Int>(), ControlledDataProvider<Int, Int>())
        let integrator = Integrator(first >>>> second)
        let task = recorder.call(integrator.prepareCall(1))
        try await first.waitForRequest().answer(2)
        let request = try await second.waitForRequest()
        // The first stage has come to its end, which is progress.
        try await recorder.waitForEvents(.began, .progressed(0.5))
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        recorder.expectRecorded(.cancelled(.cancelled), .completed)
    }

    @Test("A sequence blocked a thread a stage, and starved unrelated work")
    func sequenceBlockedThreads() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var deep = provider.eraseToAnyDataProvider()
        for _ in 0..<100 { deep = (deep >>>> { $0 + 1 }).eraseToAnyDataProvider() }
        let integrator = Integrator(deep)
        // More requests in flight than there are threads, each of depth 100.
        let tasks = (0..<200).map { integrator.prepareCall($0).call() }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in tasks { requests.append(try await provider.waitForRequest()) }
        #expect(try await Integrator(Echo<Int>()).request(7) == 7)
        for request in requests { request.answer(request.input) }
        for (input, task) in tasks.enumerated() { #expect(try await task.value == input + 100) }
    }

    @Test("A released group answered (nil, nil)")
    func releasedGroup() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        var integrator: Integrator<(Int, Int), (Int, Int)>? = Integrator(
            provider >><< provider, cancelsWhenReleased: true)
        _ = integrator?.prepareCall((1, 2)).recorded(in: log).call()
        let requests = [try await provider.waitForRequest(), try await provider.waitForRequest()]
        integrator = nil
        for request in requests { try await request.waitUntilCancelled() }
        try await log.contains("completion")
        #expect(log.entries == ["begin", "cancel released", "completion"])
    }

    @Test(".latest gave 98 of 100 callers no callback, and one of them two completions")
    func latestOfAHundred() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .latest)
        let recorders = (0..<100).map { _ in IntegrationRecorder<Int>() }
        let tasks = recorders.enumerated().map { $1.call(integrator.prepareCall($0)) }
        while true {
            let request = try await provider.waitForRequest()
            guard request.input == 99 else { continue }
            request.answer(99)
            break
        }
        for (index, task) in tasks.enumerated() {
            await task.finish()
            recorders[index].expectRecorded(
                .began, index == 99 ? .succeeded(99) : .cancelled(.superseded), .completed)
        }
    }

    @Test(".latest delivered a superseded value")
    func latestDeliveredASupersededValue() async throws {
        let (provider, gone) = (ControlledDataProvider<Int, Int>(reactsToCancel: false), Signal())
        let integrator = Integrator(provider, executing: .latest)
        recorder.call(integrator.prepareCall(1).opening(gone))
        let first = try await provider.waitForRequest()
        let newer = integrator.prepareCall(2).call()
        first.answer(1)
        try await gone.wait()
        recorder.expectRecorded(.began, .cancelled(.superseded), .completed)
        try await provider.waitForRequest().answer(2)
        #expect(await newer.outcome == .success(2))
    }

    @Test(".latest died for ever when a provider's cancel did not call back")
    func latestDied() async throws {
        let callbacks = ControlledCallbackDataProvider<Int, Int>()
        let integrator = Integrator(callbacks, executing: .latest)
        for _ in 1...10 {
            integrator.prepareCall(1).call()
            _ = try await callbacks.waitForRequest()
        }
        let last = integrator.prepareCall(2).call()
        try await callbacks.waitForRequest().answer(2)
        #expect(await last.outcome == .success(2))
    }

    @Test("Cancelled queue entries delivered all the same, and let two run at once")
    func cancelledQueueEntries() async throws {
        let (provider, crowd) = (ControlledDataProvider<Int, Int>(reactsToCancel: false), Crowd())
        let integrator = Integrator(provider, executing: .queue)
        integrator.onBeginning { crowd.enter() }
        let recorders = (0..<20).map { _ in IntegrationRecorder<Int>() }
        let tasks = recorders.enumerated().map { input, recorder in
            recorder.call(integrator.prepareCall(input).onCompletion { crowd.leave() })
        }
        for input in stride(from: 1, to: 20, by: 2) { tasks[input].cancel() }
        for input in stride(from: 0, to: 20, by: 2) {
            let request = try await provider.waitForRequest()
            #expect(request.input == input)
            // A cancelled one at the head as well: its provider is deaf and answers all the same.
            if input % 4 == 0 { tasks[input].cancel() }
            request.answer(input)
        }
        for (input, task) in tasks.enumerated() {
            await task.finish()
            if input % 2 == 1 {
                recorders[input].expectRecorded(.cancelled(.cancelled))
            } else {
                recorders[input].expectRecorded(
                    .began, input % 4 == 0 ? .cancelled(.cancelled) : .succeeded(input), .completed)
            }
        }
        #expect(crowd.most == 1)
        #expect(provider.requestCount == 10)
    }

    @Test(".only dropped 9 of 10 callers silently")
    func onlyDroppedCallers() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider, executing: .only)
        let recorders = (0..<10).map { _ in IntegrationRecorder<Int>() }
        let tasks = recorders.enumerated().map { $1.call(integrator.prepareCall($0)) }
        try await provider.waitForRequest().answer(0)
        await tasks[0].finish()
        recorders[0].expectRecorded(.began, .succeeded(0), .completed)
        for (recorder, task) in zip(recorders, tasks).dropFirst() {
            await task.finish()
            recorder.expectRecorded(.cancelled(.ignored))
        }
    }

    @Test(".only hung a sequence that contained it")
    func onlyHungASequence() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let only = Integrator(provider, executing: .only)
        let running = only.prepareCall(0).call()
        _ = try await provider.waitForRequest()
        // The first stage has come to its end, which is progress.
        let recorder = IntegrationRecorder<Int>()
        let task = recorder.call(Integrator(Echo<Int>() >>>> only >>>> { $0 + 1 }).prepareCall(1))
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.ignored), .completed)
        running.cancel()
        await running.finish()
    }

    @Test("A retried call completed four times")
    func retriedCallCompletedFourTimes() async {
        await recorder.call(Integrator(Failing(Trouble.first)).prepareCall(1).retry(3)).finish()
        recorder.expectRecorded(.began)
        for retry in 1...3 { recorder.expectRecorded(.retried(retry, after: Trouble.first)) }
        recorder.expectRecorded(.failed(Trouble.first), .completed)
    }

    @Test("Unknown errors were swallowed")
    func unknownErrors() async {
        struct Unheardof: Error {}
        let router = ErrorRouter()
        var unclaimed = 0
        router.on(Trouble.self) { _ in }.otherwise { if $0 is Unheardof { unclaimed += 1 } }
        let task = Integrator(Failing(Unheardof())).prepareCall(1)
            .errorHandler(router).onError { [log] in log.add("\(type(of: $0))") }.call()
        await task.finish()
        #expect(unclaimed == 1)
        #expect(log.entries == ["Unheardof"])
        await #expect(throws: Unheardof.self) { try await task.value }
    }

    @Test("\"All succeed\" was inverted")
    func allSucceed() async {
        let integrator = Integrator(FailsBelowZero())
        let all = await [1, 2, 3].map { integrator.prepareCall($0) }.callAll()
        #expect(all == [.success(1), .success(2), .success(3)])
        let some = await [1, -2, 3].map { integrator.prepareCall($0) }.callAll()
        #expect(some.map { $0.value } == [1, nil, 3])
        #expect(some[1].error as? Trouble == .numbered(-2))
        await #expect(throws: Trouble.numbered(-2)) {
            try await (FailsBelowZero() >><< FailsBelowZero()).request((1, -2))
        }
    }
}
