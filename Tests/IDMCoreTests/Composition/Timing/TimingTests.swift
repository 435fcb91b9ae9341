import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("A time-out", .timeLimit(.ample))
struct TimeoutTests {
    @Test("lets an answer through that comes in time, and stops its clock")
    func inTime() async throws {
        let clock = ManualClock()
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.timeout(.seconds(1), clock: clock).request(1) }
        let request = try await provider.nextRequest()
        try await clock.sleepers(1)
        request.answer(5)
        #expect(try await task.value == 5)
        try await clock.noSleepers()
    }

    @Test("passes an error on")
    func failure() async throws {
        await #expect(throws: Trouble.first) {
            try await Failing(Trouble.first).timeout(.seconds(1), clock: ManualClock()).request(1)
        }
    }

    @Test("fails the request when the time is over, and cancels the provider")
    func tooLate() async throws {
        let clock = ManualClock()
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task(executorPreference: clock.executor) {
            try await provider.timeout(.seconds(1), clock: clock).request(1)
        }
        let request = try await provider.nextRequest()
        await clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(!request.isCancelled)
        await clock.advance(by: .nanoseconds(1))
        await #expect(throws: DataProviderError.timedOut(after: .seconds(1))) { try await task.value }
        try await request.cancelled()
    }

    @Test("fails the request also when the provider is deaf, which runs on unheard")
    func deaf() async throws {
        let clock = ManualClock()
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: false)
        let task = Task(executorPreference: clock.executor) {
            try await provider.timeout(.seconds(1), clock: clock).request(1)
        }
        let request = try await provider.nextRequest()
        await clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(!request.isCancelled)
        await clock.advance(by: .nanoseconds(1))
        await #expect(throws: DataProviderError.timedOut(after: .seconds(1))) { try await task.value }
        request.answer(1)
        try await request.ended()
    }

    @Test("ends at once when it is cancelled, deaf provider or not, and stops its clock", arguments: [false, true])
    func cancel(deaf: Bool) async throws {
        let clock = ManualClock()
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: !deaf)
        let task = Task { try await provider.timeout(.seconds(1), clock: clock).request(1) }
        let request = try await provider.nextRequest()
        try await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await request.cancelled()
        try await clock.noSleepers()
        request.answer(1)
    }

    @Test("of nothing or less fails every request, and asks nobody", arguments: [Duration.zero, .seconds(-5)])
    func nothing(duration: Duration) async throws {
        let provider = FailingAtFirst(0)
        let limited = provider.timeout(duration)
        await #expect(throws: DataProviderError.timedOut(after: duration)) { try await limited.request(1) }
        #expect(await collect(limited, 1).error as? DataProviderError == .timedOut(after: duration))
        #expect(provider.count == 0)
    }

    @Test("of the longest time there is doesn't trap")
    func longest() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await provider.timeout(.seconds(Int64.max)).request(1) }
        try await provider.nextRequest().answer(3)
        #expect(try await task.value == 3)
    }

    @Test("isn't asked by a task that is already cancelled")
    func alreadyCancelled() async throws {
        let isReady = Signal()
        let provider = FailingAtFirst(0)
        let task = Task {
            await isReady.waitDeaf()
            return try await provider.timeout(.seconds(1)).request(1)
        }
        task.cancel()
        isReady.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.count == 0)
    }

    @Test("holds for the whole of a stream: what came in time is delivered, then it fails")
    func stream() async throws {
        let clock = ManualClock()
        let stream = ControlledStreamDataProvider<Int, Int>()
        let limited = stream.timeout(.seconds(2), clock: clock)
        #expect(limited.deliversMany)
        let log = Log()
        let task = Task {
            var values = limited.values(for: 0).makeAsyncIterator()
            while let value = try await values.next() { log.add("\(value)") }
        }
        let request = try await stream.nextRequest()
        request.send(1)
        try await log.count(reaches: 1)
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(1))
        request.send(2)
        try await log.count(reaches: 2)
        await clock.advance(by: .seconds(1))
        await #expect(throws: DataProviderError.timedOut(after: .seconds(2))) { try await task.value }
        #expect(log.entries == ["1", "2"])
        try await request.cancelled()
    }

    @Test("lets a whole stream through that ends in time")
    func streamInTime() async throws {
        let limited = Listed(1, 2, 3).timeout(.seconds(1), clock: ManualClock())
        #expect(await collect(limited, 0).values == [1, 2, 3])
        #expect(try await limited.request(0) == 3)
    }

    @Test("cancels its provider when a walk through the values is given up")
    func abandoned() async throws {
        let clock = ManualClock()
        let stream = ControlledStreamDataProvider<Int, Int>()
        let task = Task {
            var values = stream.timeout(.seconds(1), clock: clock).values(for: 0).makeAsyncIterator()
            return try await values.next()
        }
        let request = try await stream.nextRequest()
        request.send(1)
        #expect(try await task.value == 1)
        try await request.cancelled()
        try await clock.noSleepers()
    }

    @Test("lets the progress of its provider through")
    func progress() async throws {
        let log = ProgressLog()
        let provider = ControlledDataProvider<Int, Int>()
        let task = Task { try await log.reporter.ambient { try await provider.timeout(.seconds(600)).request(1) } }
        let request = try await provider.nextRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer(1)
        _ = try await task.value
        #expect(log.fractions == [0.5])
    }
}

@Suite("A delay", .timeLimit(.ample))
struct DelayTests {
    @Test("asks the provider after its time, not before")
    func delay() async throws {
        let clock = ManualClock()
        let provider = FailingAtFirst(0)
        let task = Task(executorPreference: clock.executor) {
            try await provider.delay(.seconds(2), clock: clock).request(1)
        }
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(provider.count == 0)
        await clock.advance(by: .nanoseconds(1))
        #expect(provider.count == 1)
        #expect(try await task.value == 1)
    }

    @Test("of nothing or less is none", arguments: [Duration.zero, .seconds(-5)])
    func none(duration: Duration) async throws {
        #expect(try await Doubler().delay(duration, clock: ManualClock()).request(1) == 2)
    }

    @Test("that is cancelled ends at once, and asks nobody")
    func cancel() async throws {
        let clock = ManualClock()
        let provider = FailingAtFirst(0)
        let task = Task { try await provider.delay(.seconds(Int64.max), clock: clock).request(1) }
        try await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.count == 0)
    }

    @Test("comes before the first value of a stream, and before no other")
    func stream() async throws {
        let clock = ManualClock()
        let delayed = Listed(1, 2).delay(.seconds(1), clock: clock)
        #expect(delayed.deliversMany)
        let task = Task { await collect(delayed, 0).values }
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(1))
        #expect(await task.value == [1, 2])
    }
}
