import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite(.timeLimit(.ample))
struct ClockPauseTests {
    @Test("a sleep in steps is one sleep on a manual clock")
    func manualClock() async throws {
        let clock = ManualClock()
        async let sleep: Void = clock.sleepInSteps(until: clock.now.advanced(by: .seconds(600)))
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.seconds(600)])
        await clock.advance(by: .seconds(600))
        try await sleep
    }

    @Test("a sleep in steps ends at its deadline", arguments: [Duration.zero, .milliseconds(-5), .milliseconds(5)])
    func deadline(duration: Duration) async throws {
        let end = ContinuousClock.now.advanced(by: duration)
        try await ContinuousClock().sleepInSteps(until: end)
        #expect(ContinuousClock.now >= end)
    }

    @Test("a cancelled sleep in steps ends at once")
    func cancel() async {
        let sleep = Task { try await SuspendingClock().sleepInSteps(until: .now.advanced(by: .seconds(86_400))) }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }
}
