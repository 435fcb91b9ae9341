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
            let leader = Leader(clock: clock, handing: .late)
            return ClosureDataProvider { (input: Int) in
                if input == 2 { throw Trouble.first }
                do {
                    return try await leader.request(input)
                } catch is CancellationError where !Task.isCancelled {
                    throw Trouble.second
                }
            }
        }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 1 of them failed."
            ])
    }

    @Test(
        "is broken by it also if it does so with one of two or four inputs only, before it has begun its work",
        arguments: [(1, 2), (2, 2), (1, 4), (2, 4), (3, 4), (4, 4)])
    func earlyLeader(led: Int, inputCount: Int) async throws {
        @Sendable func lead(for clock: ManualClock) -> ClosureDataProvider<Int, Int> {
            let leader = Leader(clock: clock, handing: .early)
            return ClosureDataProvider { (input: Int) in
                if input == led { return try await leader.request(input) }
                try await clock.sleep(for: .seconds(1))
                return input
            }
        }
        let found =
            inputCount == 2
            ? try await check(inputs: 2) { lead(for: $0) } : try await check(inputs: 2, 3, 4) { lead(for: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        let words = "expected the cancel of some of 20 requests to leave the others alone, and"
        // Half of those with this input are spared, or two of five.
        let count = inputCount == 2 ? 5 : 2
        #expect(found.messages == ["\(words) \(count) of them ended as cancelled."])
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
    /// Which cancel of the first it hands on to the others, before the work has begun or after. After another one the
    /// next of them does the work.
    enum Handing { case early, late, both }

    /// Nil inside is for the others to try anew.
    private typealias Ending = Result<Int, any Error>?

    private let shared = Watched<Watched<Ending?>?>(nil)
    private let clock: ManualClock
    private let handing: Handing

    init(clock: ManualClock, handing: Handing = .both) {
        self.clock = clock
        self.handing = handing
    }

    func request(_ input: Int) async throws -> Int {
        while true {
            let (ending, isFirst) = shared.change { shared in
                if let shared { return (shared, false) }
                let ending = Watched<Ending?>(nil)
                shared = ending
                return (ending, true)
            }
            if isFirst { return try await work(with: input, for: ending) }
            try await ending.wait { $0 != nil }
            if case .some(let result?) = ending.value { return try result.get() }
        }
    }

    private func work(with input: Int, for others: Watched<Ending?>) async throws -> Int {
        var handed = Handing.early
        do {
            try await clock.sleep(for: .milliseconds(10))
            handed = .late
            try await clock.sleep(for: .seconds(1))
        } catch {
            end(handing == handed || handing == .both ? .failure(error) : nil, for: others)
            throw error
        }
        end(.success(input), for: others)
        return input
    }

    private func end(_ ending: Ending, for others: Watched<Ending?>) {
        shared.change { $0 = nil }
        others.change { $0 = .some(ending) }
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
