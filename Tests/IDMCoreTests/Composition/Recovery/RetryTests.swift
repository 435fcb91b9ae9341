import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct RetryTests {
    @Test func `a retry asks its condition after each failure and stops when it refuses`() async throws {
        let (log, provider) = (Log(), FailingAtFirst(.max))
        let retried = provider.retry(10) { error in
            log.add("\(error)")
            return log.count < 3
        }

        await #expect(throws: Trouble.first) { try await retried.request(1) }
        #expect(log.entries == ["first", "first", "first"] && provider.count == 3)
    }

    @Test func `a retry waits for its delay each time`() async throws {
        let (clock, provider) = (ManualClock(), FailingAtFirst(3))
        let delay = RetryDelay.exponential(initial: .seconds(1), multiplier: 3, maximum: .seconds(5))
        let task = Task { try await provider.retry(3, delay: delay, clock: clock).request(1) }

        for (index, seconds) in [1, 3, 5].enumerated() {
            try await clock.waitForSleepers(1)
            #expect(clock.remaining == [.seconds(seconds)] && provider.count == index + 1)
            await clock.advance(by: .seconds(seconds))
        }
        #expect(try await task.value == 1)
    }

    @Test(arguments: ["retry", "fallback"])
    func `a cancelled task neither retries nor falls back`(way: String) async throws {
        let (provider, other) = (ControlledDataProvider<Int, Int>(reactsToCancel: false), FailingAtFirst(0))
        let task = Task {
            try await way == "retry" ? provider.retry(3).request(1) : provider.fallback(to: other).request(1)
        }
        let request = try await provider.waitForRequest()
        task.cancel()
        request.fail(Trouble.first)

        await #expect(throws: Trouble.first) { try await task.value }
        #expect(provider.requestCount == 1 && other.count == 0)
    }
}
