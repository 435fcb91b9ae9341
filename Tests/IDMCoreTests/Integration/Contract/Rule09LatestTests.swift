import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("Rule 9: no call commits a value after a newer call of .latest", .inScope, .timeLimit(.ample))
@MainActor
struct Rule09LatestTests {
    private let log = Log()
    private let gone = Signal()

    @Test func `a superseded call ends before its deaf provider answers, and drops the answer`() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .latest)
        let older = integrator.prepareCall(1).recorded(in: log).opening(gone).call()
        let first = try await provider.waitForRequest()

        let newer = integrator.prepareCall(2).call()
        await older.finish()
        #expect(log.entries == ["begin", "cancel superseded", "completion"])
        first.answer(1)
        try await gone.wait()
        try await provider.waitForRequest().answer(2)

        #expect(await newer.outcome == .success(2))
        #expect(await older.outcome == .cancelled(.superseded))
        #expect(log.count == 3)
    }

    @Test func `a superseded stream that ignores its cancel delivers no further value`() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(stream, executing: .latest)
        integrator.prepareCall(1).recorded(in: log).opening(gone).call()
        let first = try await stream.waitForRequest()
        first.send(1)
        try await log.contains("success 1")

        let newer = integrator.prepareCall(2).call()
        first.send(2)
        first.finish()
        try await gone.wait()
        newer.cancel()

        #expect(log.entries == ["begin", "success 1", "cancel superseded", "completion"])
    }

    @Test func `of a hundred calls answered in any order only the last delivers a value`() async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .latest)
        let tasks = (0..<100).map { integrator.prepareCall($0).recorded(in: log, as: "\($0)").call() }
        var requests: [ControlledRequest<Int, Int>] = []
        for _ in tasks { requests.append(try await provider.waitForRequest()) }
        var generator = SplitMix(seed: 9)

        for request in requests.shuffled(using: &generator) { request.answer(request.input) }
        for task in tasks { await task.finish() }

        let events = (0..<100).map { log.entries(of: "\($0)") }
        #expect(events.dropLast().allSatisfy { $0 == ["begin", "cancel superseded", "completion"] })
        #expect(events.last == ["begin", "success 99", "completion"])
    }
}
