import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Retry", .timeLimit(.ample))
struct RetryTests {
    @Test("asks again until there is an answer")
    func untilAnswer() async throws {
        let provider = FailingAtFirst(2)
        #expect(try await provider.retry(5).request(7) == 7)
        #expect(provider.count == 3)
    }

    @Test(
        "fails with the last error when no retry is left; zero and less is none", arguments: [(-1, 1), (0, 1), (2, 3)])
    func count(given: Int, asked: Int) async throws {
        let provider = FailingAtFirst(.max)
        await #expect(throws: Trouble.first) { try await provider.retry(given).request(7) }
        #expect(provider.count == asked)
        let stream = FailingAtFirst(.max)
        let result = await collect(stream.retry(given), 7)
        #expect(result.error as? Trouble == .first)
        #expect(stream.count == asked)
    }

    @Test("takes the greatest count there is, and the smallest")
    func extremes() async throws {
        #expect(try await FailingAtFirst(1_000).retry(.max).request(1) == 1)
        await #expect(throws: Trouble.first) { try await FailingAtFirst(1).retry(.min).request(1) }
    }

    @Test("asks 'when' for each failure, and stops when it says no")
    func when() async throws {
        let log = Log()
        let provider = FailingAtFirst(.max)
        let retried = provider.retry(10) { error in
            log.add("\(error)")
            return log.count < 3
        }
        await #expect(throws: Trouble.first) { try await retried.request(1) }
        #expect(log.entries == ["first", "first", "first"])
        #expect(provider.count == 3)
    }

    @Test("waits as long as the delay says, each time")
    func delays() async throws {
        let clock = ManualClock()
        let provider = FailingAtFirst(3)
        let delay = RetryDelay.exponential(initial: .seconds(1), multiplier: 3, maximum: .seconds(5))
        let task = Task { try await provider.retry(3, delay: delay, clock: clock).request(1) }
        for (index, seconds) in [1, 3, 5].enumerated() {
            try await clock.sleepers(1)
            #expect(clock.remaining == [.seconds(seconds)])
            #expect(provider.count == index + 1)
            await clock.advance(by: .seconds(seconds))
        }
        #expect(try await task.value == 1)
        #expect(provider.count == 4)
    }

    @Test("doesn't wait for a negative delay")
    func negativeDelay() async throws {
        let clock = ManualClock()
        let retried = FailingAtFirst(2).retry(2, delay: .constant(.seconds(-1)), clock: clock)
        #expect(try await retried.request(1) == 1)
    }

    @Test("cancelled during the delay ends at once, and asks no more")
    func cancelDuringDelay() async throws {
        let clock = ManualClock()
        let provider = FailingAtFirst(.max)
        let task = Task { try await provider.retry(3, delay: .constant(.seconds(1)), clock: clock).request(1) }
        try await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.count == 1)
        #expect(clock.remaining.isEmpty)
    }

    @Test("isn't made by a cancelled task, whatever the provider throws")
    func cancelledTask() async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: false)
        let task = Task { try await provider.retry(3).request(1) }
        let request = try await provider.nextRequest()
        task.cancel()
        request.fail(Trouble.first)
        await #expect(throws: Trouble.first) { try await task.value }
        #expect(provider.requestCount == 1)
    }

    @Test("repeats a stream only before its first value")
    func streams() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Task { await collect(stream.retry(5), 0) }
        let first = try await stream.nextRequest()
        first.fail(Trouble.first)
        let second = try await stream.nextRequest()
        second.send(1)
        second.fail(Trouble.second)
        let result = await task.value
        #expect(result.values == [1])
        #expect(result.error as? Trouble == .second)
        #expect(stream.requestCount == 2)
    }

    @Test("repeats a stream that ends without a value")
    func noValue() async throws {
        let asked = Log()
        let provider = Asked(Listed(), in: asked).retry(2)
        let (values, error) = await collect(provider, 1)
        #expect(values == [])
        #expect(error as? DataProviderError == .noAnswer)
        #expect(asked.count == 3)
        await #expect(throws: DataProviderError.noAnswer) { try await provider.request(1) }
        #expect(asked.count == 6)
    }

    @Test("keeps to that also when one value is asked for")
    func streamRequest() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Task { try await stream.retry(5).request(0) }
        let request = try await stream.nextRequest()
        request.send(1)
        request.fail(Trouble.second)
        await #expect(throws: Trouble.second) { try await task.value }
        #expect(stream.requestCount == 1)
    }
}
