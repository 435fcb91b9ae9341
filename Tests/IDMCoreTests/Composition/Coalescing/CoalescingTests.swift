import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("Coalesced requests", .timeLimit(.ample))
struct CoalesceTests {
    /// Takes a seat for each of several requests before the first of them can be answered.
    private func join(
        _ count: Int, _ provider: ControlledDataProvider<Int, Int>
    ) async throws -> (tasks: [Task<Int, any Error>], request: ControlledRequest<Int, Int>) {
        let keys = Log()
        let coalesced = provider.coalesced { input in
            keys.add("key")
            return input
        }
        var tasks: [Task<Int, any Error>] = []
        for index in 0..<count {
            tasks.append(Task { try await coalesced.request(1) })
            try await keys.count(reaches: index + 1)
        }
        return (tasks, try await provider.nextRequest())
    }

    @Test("with equal inputs share one request; others don't")
    func share() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: true)
        let seats = [flights.join(1, 1), flights.join(1, 1), flights.join(2, 2)]
        let tasks = seats.map { seat in Task { try await seat.request(0) } }
        for _ in 0..<2 {
            let request = try await provider.nextRequest()
            request.answer(request.input * 10)
        }
        #expect(try await tasks[0].value == 10)
        #expect(try await tasks[1].value == 10)
        #expect(try await tasks[2].value == 20)
        #expect(provider.requestCount == 2)
    }

    @Test("let go of a key where no lock is held")
    func reentrantKeys() async throws {
        final class Nosy: Hashable, Sendable {
            let uses = Watched(0)
            let flights: Flights<Nosy, Int, Int>

            init(_ flights: Flights<Nosy, Int, Int>) { self.flights = flights }

            deinit {
                // Not to be reached where the flights' lock is held.
                if !flights.isEmpty { uses.change { $0 += 1 } }
            }

            static func == (left: Nosy, right: Nosy) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }

        let flights = Flights<Nosy, Int, Int>(provider: ValueDataProvider<Int, Int>(7), closesAtLanding: true)
        let first = flights.join(Nosy(flights), 1)
        let second = flights.join(Nosy(flights), 2)
        first.leave()
        #expect(try await second.request(0) == 7)
        second.leave()
        #expect(flights.isEmpty)
    }

    @Test("fail together")
    func failure() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: true)
        let seats = [flights.join(1, 1), flights.join(1, 1)]
        let tasks = seats.map { seat in Task { try await seat.request(0) } }
        try await provider.nextRequest().fail(Trouble.first)
        for task in tasks { await #expect(throws: Trouble.first) { try await task.value } }
    }

    @Test("one after the other are made one after the other: nothing is kept")
    func nothingIsKept() async throws {
        let provider = FailingAtFirst(0)
        let coalesced = provider.coalesced()
        #expect(try await coalesced.request(1) == 1)
        #expect(try await coalesced.request(1) == 1)
        #expect(provider.count == 2)
        let failing = FailingAtFirst(1)
        let retried = failing.coalesced()
        await #expect(throws: Trouble.first) { try await retried.request(1) }
        #expect(try await retried.request(1) == 1)
    }

    @Test("with one that is cancelled: that one ends at once, the others go on", arguments: [false, true])
    func cancelOne(deaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: !deaf)
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: true)
        let seats = [flights.join(1, 1), flights.join(1, 1)]
        let tasks = seats.map { seat in Task { try await seat.request(0) } }
        let request = try await provider.nextRequest()
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(!request.isCancelled)
        request.answer(3)
        #expect(try await tasks[1].value == 3)
    }

    @Test("that are all cancelled cancel the request, and all end at once", arguments: [false, true])
    func cancelAll(deaf: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: !deaf)
        let (tasks, request) = try await join(3, provider)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await request.cancelled()
        request.answer(1)
    }

    @Test("after all were cancelled are made anew")
    func afterCancel() async throws {
        let provider = ControlledDataProvider<Int, Int>(hearsCancel: false)
        let coalesced = provider.coalesced()
        let first = Task { try await coalesced.request(1) }
        let old = try await provider.nextRequest()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await coalesced.request(1) }
        let new = try await provider.nextRequest()
        old.answer(1)
        new.answer(2)
        #expect(try await second.value == 2)
    }

    @Test("aren't made by a task that is already cancelled")
    func alreadyCancelled() async throws {
        let isReady = Signal()
        let provider = FailingAtFirst(0)
        let task = Task {
            await isReady.waitDeaf()
            return try await provider.coalesced().request(1)
        }
        task.cancel()
        isReady.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(provider.count == 0)
    }

    @Test("take the last value of a stream, and are none")
    func streams() async throws {
        let coalesced = Listed(1, 2).coalesced()
        #expect(try await coalesced.request(0) == 2)
        #expect(coalesced.stream == nil)
        await #expect(throws: DataProviderError.noAnswer) { try await Listed().coalesced().request(0) }
    }

    @Test("of ten thousand racing tasks all get an answer, and leave nothing behind")
    func race() async throws {
        let provider = ClosureDataProvider { (number: Int) in
            try Task.checkCancellation()
            return number * 2
        }
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: true)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    let seat = flights.join(number % 7, number % 7)
                    let task = Task { try await seat.request(0) }
                    if number % 3 == 0 { task.cancel() }
                    let result = await task.result
                    seat.leave()
                    switch result {
                    case .success(let value): #expect(value == number % 7 * 2)
                    case .failure(let error): #expect(error is CancellationError)
                    }
                }
            }
        }
        #expect(flights.isEmpty)
    }
}

@Suite("Flights", .timeLimit(.ample))
struct FlightsTests {
    @Test("start when the first passenger asks, not when a seat is taken")
    func start() async throws {
        let provider = FailingAtFirst(0)
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: false)
        let seat = flights.join(1, 5)
        #expect(provider.count == 0)
        #expect(try await seat.request(0) == 5)
        #expect(provider.count == 1)
    }

    @Test("stay joinable until somebody leaves after the answer, unless they close with it", arguments: [false, true])
    func joinable(closes: Bool) async throws {
        let provider = FailingAtFirst(0)
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: closes)
        let first = flights.join(1, 5)
        #expect(try await first.request(0) == 5)
        let late = flights.join(1, 5)
        #expect(try await late.request(0) == 5)
        #expect(provider.count == (closes ? 2 : 1))
        first.leave()
        let next = flights.join(1, 5)
        #expect(try await next.request(0) == 5)
        #expect(provider.count == (closes ? 3 : 2))
        late.leave()
        next.leave()
        #expect(flights.isEmpty)
    }

    @Test("deliver every value to every seat, beginning with the latest for who comes late")
    func streamValues() async throws {
        let stream = ControlledStreamDataProvider<Int, Int>()
        let flights = Flights<Int, Int, Int>(provider: stream, closesAtLanding: false)
        let early = flights.join(1, 0)
        #expect(early.deliversMany)
        let first = Task { await collect(early, 0).values }
        let request = try await stream.nextRequest()
        request.send(1)
        request.send(2)
        // A seat that is there but doesn't ask loses nothing.
        let silent = flights.join(1, 0)
        let witness = flights.join(1, 0)
        var walk = witness.values(for: 0).makeAsyncIterator()
        let latest = try await walk.next()
        request.send(3)
        request.finish()
        #expect(await first.value == [1, 2, 3])
        var rest: [Int] = []
        while let value = try await walk.next() { rest.append(value) }
        #expect([latest].compactMap(\.self) + rest == Array((latest ?? 0)...3))
        let kept = await collect(silent, 0).values
        #expect(kept.last == 3)
        #expect(kept == Array((kept.first ?? 0)...3))
        let late = flights.join(1, 0)
        #expect(await collect(late, 0).values == [3])
    }

    @Test("let a seat go that nobody holds any more")
    func droppedSeat() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: false)
        do {
            let seat = flights.join(1, 1)
            let task = Task { [seat] in try await seat.request(0) }
            let request = try await provider.nextRequest()
            task.cancel()
            try await request.cancelled()
            _ = await task.result
        }
        do { _ = flights.join(2, 2) }
        #expect(flights.isEmpty)
    }

    @Test("leaving twice is leaving once, and a seat that was left gives nothing")
    func leaveTwice() async throws {
        let flights = Flights<Int, Int, Int>(provider: Doubler(), closesAtLanding: false)
        let seat = flights.join(1, 1)
        let other = flights.join(1, 1)
        seat.leave()
        seat.leave()
        await #expect(throws: CancellationError.self) { try await seat.request(0) }
        #expect(try await other.request(0) == 2)
    }

    @Test("report the progress to every seat that has asked")
    func progress() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let flights = Flights<Int, Int, Int>(provider: provider, closesAtLanding: false)
        let logs = [ProgressLog(), ProgressLog()]
        let seats = [flights.join(1, 1), flights.join(1, 1)]
        let first = Task { try await logs[0].reporter.ambient { try await seats[0].request(0) } }
        let request = try await provider.nextRequest()
        request.reporter?.report(fraction: 0.25)
        #expect(logs[0].fractions == [0.25])
        request.answer(1)
        _ = try await first.value
        // Late, but it hears what comes while it sits there.
        _ = try await logs[1].reporter.ambient { try await seats[1].request(0) }
        request.reporter?.report(fraction: 1)
        #expect(logs[0].fractions == [0.25, 1])
        #expect(logs[1].fractions == [1])
    }
}
