import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct AfterTests {
    private let log = Log()
    private let first = ControlledDataProvider<Int, Int>()
    private let second = ControlledDataProvider<Int, Int>()

    /// The end of the predecessor.
    enum End: CaseIterable { case success, failure, ignored, endedBefore }

    @Test(arguments: End.allCases)
    func `a call starts when its predecessor has ended in any way`(end: End) async throws {
        let busy = Integrator(first, executing: .only)
        let last = Integrator(Echo<Int>()).prepareCall(2).recorded(in: log)
        switch end {
        case .success, .failure:
            let other = busy.prepareCall(1).onCompletion { [log] in log.add("other") }
            let task = last.after(other).call()
            let request = try await first.waitForRequest()
            #expect(log.entries == [])
            if end == .success { request.answer(1) } else { request.fail(Trouble.first) }
            await task.finish()
        case .ignored:
            let running = busy.prepareCall(1).call()
            await last.after(busy.prepareCall(3).onCancel { [log] _ in log.add("other") }).call().finish()
            running.cancel()
            await running.finish()
        case .endedBefore:
            let other = Integrator(Echo<Int>()).prepareCall(1).onCompletion { [log] in log.add("other") }.call()
            await other.finish()
            await last.after(other).call().finish()
        }

        #expect(log.entries == ["other", "begin", "success 2", "completion"])
    }

    @Test func `a call waits for its predecessors in order`() async throws {
        let (one, two) = (Integrator(first).prepareCall(1), Integrator(second).prepareCall(2))
        let task = Integrator(Echo<Int>()).prepareCall(3).after(one).after(two).recorded(in: log).call()
        let request = try await first.waitForRequest()
        #expect(second.requestCount == 0)
        request.answer(1)
        try await second.waitForRequest().answer(2)
        await task.finish()

        #expect(log.entries == ["begin", "success 3", "completion"])
    }

    // MARK: Cancel

    /// The code that cancels a waiting call.
    enum Canceller: CaseIterable { case task, integrator, taskAfterStartedTask }

    @Test(arguments: Canceller.allCases)
    func `cancelling a waiting call cancels only a predecessor that it started`(canceller: Canceller) async throws {
        let integrator = Integrator(second)
        let other = Integrator(first).prepareCall(1).recorded(in: log, as: "other")
        let call = integrator.prepareCall(2).recorded(in: log, as: "this")
        let task = canceller == .taskAfterStartedTask ? call.after(other.call()).call() : call.after(other).call()
        let request = try await first.waitForRequest()

        if canceller == .integrator { integrator.cancel() } else { task.cancel() }
        if canceller == .task { try await request.waitUntilCancelled() } else { request.answer(1) }
        await task.finish()
        try await log.contains("other: completion")

        #expect(log.entries(of: "this") == ["cancel cancelled"])
        #expect(
            log.entries(of: "other") == [
                "begin", canceller == .task ? "cancel cancelled" : "success 1", "completion",
            ])
    }

    @Test(arguments: [false, true])
    func `a cancel spares the chain of a predecessor that has ended`(isStarted: Bool) async throws {
        let chained = ControlledDataProvider<Int, Int>()
        let one = Integrator(Echo<Int>()).prepareCall(1)
            .nextCompletion(Integrator(chained).prepareCall(3).recorded(in: log, as: "chained"))
        let call = Integrator(first).prepareCall(2).recorded(in: log, as: "this").after(one)
        let two = Integrator(second).prepareCall(4).recorded(in: log, as: "two")
        let task = isStarted ? call.call() : call.after(two).call()
        let request = try await (isStarted ? first : second).waitForRequest()
        let chainedRequest = try await chained.waitForRequest()

        task.cancel()
        try await request.waitUntilCancelled()
        #expect(!chainedRequest.isCancelled)
        chainedRequest.answer(3)
        await task.finish()

        let cancelled = ["begin", "cancel cancelled", "completion"]
        #expect(log.entries(of: "chained") == ["begin", "success 3", "completion"])
        #expect(log.entries(of: "this") == (isStarted ? cancelled : ["cancel cancelled"]))
        #expect(log.entries(of: "two") == (isStarted ? [] : cancelled))
    }
}
