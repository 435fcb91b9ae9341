import IDMTesting
import IDMCore
import Testing

@Suite("The kit of the tests", .timeLimit(.minutes(1)))
struct SupportTests {
    @Test("A sleeper wakes when its time has come, and not before")
    func sleeperWakes() async throws {
        let clock = TestClock()
        let log = Log()
        let early = Task {
            try await clock.sleep(for: .seconds(1))
            log.add("early")
        }
        let late = Task {
            try await clock.sleep(for: .seconds(2))
            log.add("late")
        }
        try await clock.advance(by: .seconds(1), whenSleeping: 2)
        try await early.value
        #expect(log.entries == ["early"])
        clock.advance(by: .seconds(1))
        try await late.value
        #expect(log.entries == ["early", "late"])
    }

    @Test("A cancelled sleeper throws at once and is forgotten")
    func cancelledSleeper() async throws {
        let clock = TestClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.sleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeping == 0)
    }

    @Test("A signal lets everybody go on, before and after")
    func signal() async throws {
        let signal = Signal()
        let waiter = Task { try await signal.wait() }
        signal.open()
        try await waiter.value
        try await signal.wait()
        await signal.waitDeaf()
    }
}
