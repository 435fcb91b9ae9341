import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.inScope, .timeLimit(.ample))
@MainActor
struct ThrottleTests {
    private let clock = ManualClock()
    private let log = Log()
    private let integrator: Integrator<Int, Int>

    init() {
        integrator = Integrator(
            Echo<Int>(), executing: .latest(throttle: .seconds(1)), lane: { $0 % 2 }, clock: clock)
    }

    private func call(_ input: Int) -> IntegrationTask<Int> {
        integrator.prepareCall(input).recorded(in: log, as: "\(input)").call()
    }

    /// The inputs of the calls that have delivered a value.
    private var delivered: [String] {
        log.entries.filter { $0.contains("success") }.map { $0.prefix { $0 != ":" } }.map(String.init)
    }

    @Test func `the first call starts at once, and then the newest call of each interval`() async throws {
        await call(2).finish()
        #expect(delivered == ["2"] && clock.remaining.isEmpty)

        await clock.advance(by: .milliseconds(400))
        let waiting = [4, 6, 8].map(call)
        for task in waiting.dropLast() { await task.finish() }
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.milliseconds(600)])
        await clock.advance(by: .milliseconds(599))
        #expect(delivered == ["2"])
        await clock.advance(by: .milliseconds(1))
        await waiting[2].finish()
        // The next interval begins with the start of that call.
        let next = call(10)
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.seconds(1)])
        await clock.advance(by: .seconds(1))
        await next.finish()
        await clock.advance(by: .seconds(1))
        await call(12).finish()

        #expect(delivered == ["2", "8", "10", "12"])
        #expect([4, 6].map { log.entries(of: "\($0)") } == [["cancel superseded"], ["cancel superseded"]])
    }

    @Test func `a call that is cancelled while it waits starts no interval`() async throws {
        await call(2).finish()
        let cancelled = call(4)
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(900))
        cancelled.cancel()
        await cancelled.finish()
        #expect(clock.remaining.isEmpty)
        await clock.advance(by: .milliseconds(100))
        await call(6).finish()

        #expect(delivered == ["2", "6"])
    }

    @Test func `each lane has its own interval, and an interval of zero is none`() async {
        await call(2).finish()
        await call(3).finish()

        #expect(delivered == ["2", "3"])
        #expect([Duration.zero, .seconds(-1)].map { ExecutingType.latest(throttle: $0) } == [.latest, .latest])
    }
}
