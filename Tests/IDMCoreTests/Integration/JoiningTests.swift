import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// Calls under `.only(joining: true)`.
@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct JoiningTests {
    private let provider = ControlledDataProvider<Int, Int>()
    private let integrator: Integrator<Int, Int>
    private let log = Log()

    init() {
        integrator = Integrator(provider, executing: .only(joining: true))
    }

    /// Makes calls with the inputs 0 and up, recorded under their input.
    private func calls(
        _ count: Int, of integrator: Integrator<Int, Int>? = nil,
        _ prepare: (IntegrationCall<Int>) -> IntegrationCall<Int> = { $0 }
    ) -> [IntegrationTask<Int>] {
        let integrator = integrator ?? self.integrator
        return (0..<count).map { prepare(integrator.prepareCall($0)).recorded(in: log, as: "\($0)").call() }
    }

    private func expect(
        _ tasks: [IntegrationTask<Int>], _ events: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for task in tasks { await task.finish() }
        let recorded = tasks.indices.map { log.entries(of: "\($0)") }
        #expect(recorded.allSatisfy { $0 == events }, "\(recorded)", sourceLocation: sourceLocation)
    }

    // MARK: One request

    @Test func `joined calls share the request and progress of the first call`() async throws {
        let tasks = calls(5)
        let request = try await provider.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(7)

        await expect(tasks, "begin", "progress 0.5", "success 7", "completion")
        #expect(request.input == 0)
        #expect(provider.requestCount == 1)
    }

    @Test func `joined calls retry together`() async throws {
        let tasks = calls(2) { $0.retry(1) }
        try await provider.waitForRequest().fail(Trouble.first)
        for name in 0...1 { try await log.contains("\(name): retry 1 after first") }
        try await provider.waitForRequest().answer(7)

        await expect(tasks, "begin", "retry 1 after first", "success 7", "completion")
    }

    @Test func `a call that joins during a retry delay makes a request of its own`() async throws {
        let clock = ManualClock()
        let integrator = Integrator(provider, executing: .only(joining: true), clock: clock)
        let first = integrator.prepareCall(1).retry(1, delay: .constant(.seconds(1))).call()
        try await provider.waitForRequest().fail(Trouble.first)
        try await clock.waitForSleepers(1)

        let second = integrator.prepareCall(2).call()
        try await provider.waitForRequest().answer(5)
        #expect(await second.outcome == .success(5))
        await second.finish()
        await clock.advance(by: .seconds(1))
        try await provider.waitForRequest().answer(6)

        #expect(await first.outcome == .success(6))
    }

    // MARK: Cancel

    @Test(arguments: 0..<3, [false, true])
    func `a cancelled call leaves alone and the others keep the request`(index: Int, isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        var tasks = calls(3, of: Integrator(provider, executing: .only(joining: true)))
        let request = try await provider.waitForRequest()
        let cancelled = tasks.remove(at: index)

        cancelled.cancel()
        await cancelled.finish()
        #expect(log.entries(of: "\(index)") == ["begin", "cancel cancelled", "completion"])
        #expect(!request.isCancelled)
        request.answer(7)
        for task in tasks { await task.finish() }

        #expect(log.entries.count { $0.hasSuffix("success 7") } == 2)
    }

    // MARK: Before and after the request

    /// The end of the first of two calls.
    enum End: CaseIterable { case answer, cancel, callInHandler }

    @Test(arguments: End.allCases)
    func `a call made after the end of a request makes its own`(end: End) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: false)
        let integrator = Integrator(provider, executing: .only(joining: true))
        var second: IntegrationTask<Int>?
        let first = integrator.prepareCall(1)
            .onSuccess { _ in if end == .callInHandler { second = integrator.prepareCall(2).call() } }
            .call()
        let request = try await provider.waitForRequest()
        if end == .cancel { first.cancel() } else { request.answer(1) }
        await first.finish()

        let last = second ?? integrator.prepareCall(2).call()
        let next = try await provider.waitForRequest()
        next.answer(2)
        if end == .cancel { request.answer(1) }

        #expect(next.input == 2)
        #expect(await last.outcome == .success(2))
    }

    @Test(arguments: [false, true])
    func `a call joins the request that runs when it is admitted`(isHeld: Bool) async throws {
        let (stage, gate) = (Stage(), provider)
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

    @Test(arguments: [false, true])
    func `the input is that of the first call that is not cancelled`(isCancelled: Bool) async throws {
        let stage = Stage()
        let first = stage.record(integrator.prepareCall(1), in: log).call()
        if isCancelled { first.cancel() }
        let second = integrator.prepareCall(2).call()
        let request = try await provider.waitForRequest()
        request.answer(7)
        #expect(await second.outcome == .success(7))
        stage.executor.open()
        await first.finish()

        #expect(request.input == (isCancelled ? 2 : 1))
        #expect(log.entries == (isCancelled ? ["cancel cancelled"] : ["begin", "success 7", "completion"]))
    }
}
