import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct DebounceTests {
    private let clock = ManualClock()
    private let provider = ControlledDataProvider<Int, Int>()
    private let log = Log()
    private let integrator: Integrator<Int, Int>

    init() {
        integrator = Integrator(provider, executing: .latest(debounce: .milliseconds(300)), clock: clock)
    }

    @Test func `only the last call of a burst starts, after its own interval`() async throws {
        var tasks: [IntegrationTask<Int>] = []
        for input in 1...5 {
            tasks.append(integrator.prepareCall(input).recorded(in: log).call())
            try await clock.waitForSleepers(1)
            await clock.advance(by: .milliseconds(299))
        }
        for task in tasks.dropLast() { await task.finish() }
        #expect(log.entries == Array(repeating: "cancel superseded", count: 4))
        #expect(clock.remaining == [.milliseconds(1)])
        #expect(provider.requestCount == 0)

        await clock.advance(by: .milliseconds(1))
        try await provider.waitForRequest().answer(5)
        await tasks[4].finish()

        #expect(log.entries.suffix(3) == ["begin", "success 5", "completion"])
    }

    @Test(arguments: [false, true])
    func `a cancel during the interval ends the call unstarted and stops the clock`(byTask: Bool) async throws {
        let task = integrator.prepareCall(1).recorded(in: log).call()
        try await clock.waitForSleepers(1)

        if byTask { task.cancel() } else { integrator.cancel() }
        await task.finish()
        #expect(clock.remaining.isEmpty)
        let later = integrator.prepareCall(2).call()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(1))
        try await provider.waitForRequest().answer(2)

        #expect(await later.outcome == .success(2))
        #expect(log.entries == ["cancel cancelled"])
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `an interval of zero or less starts the call at once`(debounce: Duration) async {
        let integrator = Integrator(Echo<Int>(), executing: .latest(debounce: debounce), clock: clock)
        await integrator.prepareCall(1).recorded(in: log).call().finish()

        #expect(log.entries == ["begin", "success 1", "completion"])
        #expect(ExecutingType.latest(debounce: debounce) == .latest)
    }
}
