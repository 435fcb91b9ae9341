import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A call after another", .inScope, .timeLimit(.ample))
@MainActor
struct AfterTests {
    private let log = Log()
    private let recorder = IntegrationRecorder<Int>()
    private let first = ControlledDataProvider<Int, Int>()
    private let second = ControlledDataProvider<Int, Int>()

    @Test("It starts when the other has completed, however that ended", arguments: [false, true])
    func order(fails: Bool) async throws {
        let other = Integrator(first).prepareCall(1).onCompletion { [log] in log.add("other") }
        let task = Integrator(Echo<Int>()).prepareCall(2).recorded(in: log).after(other).call()
        let request = try await first.waitForRequest()
        #expect(log.entries == [])
        if fails { request.fail(Trouble.first) } else { request.answer(1) }
        await task.finish()
        #expect(log.entries == ["other", "begin", "success 2", "completion"])
    }

    @Test("It starts though the other was ignored")
    func otherIgnored() async {
        let busy = Integrator(first, executing: .only)
        let running = busy.prepareCall(1).call()
        await recorder.call(Integrator(Echo<Int>()).prepareCall(2).after(busy.prepareCall(3))).finish()
        recorder.expectRecorded(.began, .succeeded(2), .completed)
        running.cancel()
        await running.finish()
    }

    @Test("It waits for all that come before it, one after the other")
    func several() async throws {
        let (one, two) = (Integrator(first).prepareCall(1), Integrator(second).prepareCall(2))
        let task = recorder.call(Integrator(Echo<Int>()).prepareCall(3).after(one).after(two))
        let request = try await first.waitForRequest()
        #expect(second.requestCount == 0)
        request.answer(1)
        try await second.waitForRequest().answer(2)
        await task.finish()
        recorder.expectRecorded(.began, .succeeded(3), .completed)
    }

    @Test("It is admitted only then")
    func admission() async throws {
        let integrator = Integrator(second, executing: .only)
        let task = recorder.call(integrator.prepareCall(1).after(Integrator(first).prepareCall(0)))
        let request = try await first.waitForRequest()
        let other = integrator.prepareCall(2).call()
        _ = try await second.waitForRequest()
        request.answer(0)
        await task.finish()
        recorder.expectRecorded(.cancelled(.ignored))
        other.cancel()
        await other.finish()
    }

    @Test("Cancelling it before cancels the other as well, and it never starts")
    func cancel() async throws {
        let other = Integrator(first).prepareCall(1).recorded(in: log, as: "other")
        let task = Integrator(second).prepareCall(2).recorded(in: log, as: "this").after(other).call()
        let request = try await first.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        #expect(log.entries(of: "other") == ["begin", "cancel cancelled", "completion"])
        #expect(log.entries(of: "this") == ["cancel cancelled"])
        #expect(second.requestCount == 0)
    }

    @Test("Cancelling its integrator before: it never starts, and the other goes on")
    func cancelIntegrator() async throws {
        let other = Integrator(first).prepareCall(1).recorded(in: log, as: "other")
        let integrator = Integrator(second)
        let task = integrator.prepareCall(2).recorded(in: log, as: "this").after(other).call()
        let request = try await first.waitForRequest()
        integrator.cancel()
        try await log.contains("this: cancel cancelled")
        request.answer(1)
        await task.finish()
        #expect(log.entries(of: "other") == ["begin", "success 1", "completion"])
        #expect(log.entries(of: "this") == ["cancel cancelled"])
    }

    @Test("After a run that was started elsewhere: a cancel leaves that one alone")
    func afterATask() async throws {
        let other = Integrator(first).prepareCall(1).call()
        let request = try await first.waitForRequest()
        let task = recorder.call(Integrator(second).prepareCall(2).after(other))
        task.cancel()
        await task.finish()
        recorder.expectRecorded(.cancelled(.cancelled))
        #expect(!request.isCancelled)
        request.answer(1)
        #expect(await other.outcome == .success(1))
    }

    @Test("After a run that has ended it starts at once")
    func afterAnEndedTask() async {
        let other = Integrator(Echo<Int>()).prepareCall(1).call()
        await other.finish()
        await recorder.call(Integrator(Echo<Int>()).prepareCall(2).after(other)).finish()
        recorder.expectRecorded(.began, .succeeded(2), .completed)
    }

    @Test("A cancel after it has started leaves alone what is chained to the other, which has run")
    func cancelBesideAChain() async throws {
        let chained = ControlledDataProvider<Int, Int>()
        let other = Integrator(Echo<Int>()).prepareCall(1)
            .nextSuccess(Integrator(chained).prepareCall(3).recorded(in: log, as: "chained"))
        let task = Integrator(second).prepareCall(2).recorded(in: log, as: "this").after(other).call()
        let request = try await second.waitForRequest()
        let chainedRequest = try await chained.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        #expect(!chainedRequest.isCancelled)
        chainedRequest.answer(3)
        await task.finish()
        #expect(log.entries(of: "chained") == ["begin", "success 3", "completion"])
        #expect(log.entries(of: "this") == ["begin", "cancel cancelled", "completion"])
    }

    @Test("A cancel while it waits for the second leaves alone what is chained to the first")
    func cancelBetween() async throws {
        let chained = ControlledDataProvider<Int, Int>()
        let one = Integrator(Echo<Int>()).prepareCall(1).nextCompletion(Integrator(chained).prepareCall(4))
        let two = Integrator(second).prepareCall(2).recorded(in: log, as: "two")
        let task = Integrator(first).prepareCall(3).recorded(in: log, as: "this").after(one).after(two).call()
        let request = try await second.waitForRequest()
        let chainedRequest = try await chained.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        #expect(!chainedRequest.isCancelled)
        chainedRequest.answer(4)
        await task.finish()
        #expect(log.entries(of: "two") == ["begin", "cancel cancelled", "completion"])
        #expect(log.entries(of: "this") == ["cancel cancelled"])
    }

    @Test("A cancel after it has started cancels it, and is heard as started")
    func cancelLater() async throws {
        let task = recorder.call(
            Integrator(second).prepareCall(2).after(Integrator(Echo<Int>()).prepareCall(1)))
        let request = try await second.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        recorder.expectRecorded(.began, .cancelled(.cancelled), .completed)
    }
}
