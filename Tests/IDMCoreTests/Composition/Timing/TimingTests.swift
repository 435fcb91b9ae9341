import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct TimeoutTests {
    private let clock = ManualClock()
    private let expired = DataProviderError.timedOut(after: .seconds(1))

    private func start(_ provider: ControlledDataProvider<Int, Int>) -> Task<Int, any Error> {
        Task(executorPreference: clock.executor) { [clock] in
            try await provider.timeout(.seconds(1), clock: clock).request(1)
        }
    }

    @Test func `an answer in time is returned and stops the timer`() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = start(provider)
        let request = try await provider.waitForRequest()
        try await clock.waitForSleepers(1)

        request.answer(5)

        #expect(try await task.value == 5)
        try await clock.waitForNoSleepers()
    }

    @Test(arguments: [false, true])
    func `a late provider is cancelled and the request fails at its time`(isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let task = start(provider)
        let request = try await provider.waitForRequest()
        await clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(!request.isCancelled)

        await clock.advance(by: .nanoseconds(1))

        await #expect(throws: expired) { try await task.value }
        try await request.waitUntilCancelled()
        request.answer(1)
    }

    @Test(arguments: [false, true])
    func `a cancel ends the request at once and stops the timer`(isDeaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(reactsToCancel: !isDeaf)
        let task = start(provider)
        let request = try await provider.waitForRequest()
        try await clock.waitForSleepers(1)

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        try await request.waitUntilCancelled()
        try await clock.waitForNoSleepers()
        request.answer(1)
    }

    @Test func `the longest duration does not trap`() async throws {
        #expect(try await Doubler().timeout(.seconds(Int64.max)).request(1) == 2)
    }

    @Test func `a stream delivers the values that come in time and then fails`() async throws {
        let (stream, log) = (ControlledStreamDataProvider<Int, Int>(), Log())
        let task = Task { [clock] in
            var values = stream.timeout(.seconds(1), clock: clock).values(for: 0).makeAsyncIterator()
            while let value = try await values.next() { log.add("\(value)") }
        }
        let request = try await stream.waitForRequest()
        request.send(1)
        try await log.count(reaches: 1)
        try await clock.waitForSleepers(1)

        await clock.advance(by: .seconds(1))

        await #expect(throws: expired) { try await task.value }
        try await request.waitUntilCancelled()
    }
}

@Suite(.timeLimit(.ample))
struct DelayTests {
    @Test(arguments: [false, true])
    func `a delayed provider is asked after its time, or never if cancelled`(isCancelled: Bool) async throws {
        let (clock, provider) = (ManualClock(), FailingAtFirst(0))
        let task = Task(executorPreference: clock.executor) {
            try await provider.delay(.seconds(2), clock: clock).request(1)
        }
        try await clock.waitForSleepers(1)
        if isCancelled { task.cancel() }
        await clock.advance(by: .seconds(2) - .nanoseconds(1))
        let countBefore = provider.count
        await clock.advance(by: .nanoseconds(1))

        let answer = try? await task.value
        #expect(answer == (isCancelled ? nil : 1))
        #expect([countBefore, provider.count] == [0, isCancelled ? 0 : 1])
    }

    @Test func `only the first value of a stream is delayed`() async throws {
        let clock = ManualClock()
        let task = Task { await collect(Listed(1, 2).delay(.seconds(1), clock: clock), 0).values }
        try await clock.waitForSleepers(1)

        await clock.advance(by: .seconds(1))

        #expect(await task.value == [1, 2])
    }
}
