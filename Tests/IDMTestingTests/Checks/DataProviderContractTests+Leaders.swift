import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What a cancel does to others that wait for the same work.
extension DataProviderContractTests {
    @Test("is broken by a provider of which the first does the work for all, and fails all with its cancel")
    func leader() async throws {
        let found = try await check { Leader(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 10 of them ended as cancelled."
            ])
    }

    @Test("is broken by it also if it does so with one input only, and another one fails anyhow")
    func leaderOfOneInput() async throws {
        let found = try await check(inputs: 2) { clock in
            let leader = Leader(clock: clock)
            return ClosureDataProvider { (input: Int) in
                if input == 2 { throw Trouble.first }
                return try await leader.request(input)
            }
        }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 1 of them ended as cancelled."
            ])
    }

    @Test("is broken by a provider of which all share one request that anybody's cancel ends, once they have met")
    func shared() async throws {
        for pause in [Duration.zero, .milliseconds(3)] {
            let found = try await check { Shared(clock: $0, pause: pause) }
            #expect(found.rules == [.takesConcurrentRequests])
            #expect(
                found.messages.first?.hasPrefix("expected the cancel of some of 20 requests to leave the others")
                    == true)
        }
    }

    @Test("is broken by a provider of which the last asks for all, and fails all with its cancel")
    func last() async throws {
        let found = try await check { Last(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 2 of them failed."
            ])
    }
}

/// The first does the work, and all others wait for what comes of it.
private final class Leader: DataProvider {
    private let shared = Watched<Watched<Result<Int, any Error>?>?>(nil)
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let (result, isFirst) = shared.change { shared in
            if let shared { return (shared, false) }
            let result = Watched<Result<Int, any Error>?>(nil)
            shared = result
            return (result, true)
        }
        guard isFirst else {
            try await result.wait { $0 != nil }
            return try result.value?.get() ?? 0
        }
        let mine: Result<Int, any Error>
        do {
            try await clock.sleep(for: .seconds(1))
            mine = .success(input)
        } catch {
            mine = .failure(error)
        }
        shared.change { $0 = nil }
        result.change { $0 = mine }
        return try mine.get()
    }
}

/// After a pause of its own, each request waits for one that all share. Whoever is cancelled then ends that.
private final class Shared: DataProvider {
    private let running = Watched<Task<Int, any Error>?>(nil)
    private let clock: ManualClock
    private let pause: Duration

    init(clock: ManualClock, pause: Duration) {
        self.clock = clock
        self.pause = pause
    }

    func request(_ input: Int) async throws -> Int {
        if pause > .zero { try await clock.sleep(for: pause) }
        let task = running.change { [clock] running in
            let task = running ?? clock.secondOfWork(with: input)
            running = task
            return task
        }
        defer { running.change { $0 = nil } }
        return try await task.valueHearingCancel
    }
}

/// Waits for those that come with the first. The last one asks for all.
private final class Last: DataProvider {
    private let state = Watched((count: 0, result: Result<Int, any Error>?.none))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let number = state.change { state in
            state.count += 1
            return state.count
        }
        try await clock.sleep(for: .milliseconds(10))
        guard number == state.value.count else {
            try await state.wait { $0.result != nil }
            return try state.value.result?.get() ?? 0
        }
        do {
            try await clock.sleep(for: .seconds(1))
            state.change { $0.result = .success(input) }
            return input
        } catch {
            state.change { $0.result = .failure(Trouble.first) }
            throw error
        }
    }
}
