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
        arguments: [(1, 2, [5]), (2, 2, [5]), (1, 4, [2]), (2, 4, [2, 3]), (3, 4, [2, 3]), (4, 4, [3])])
    func earlyLeader(led: Int, inputCount: Int, counts: [Int]) async throws {
        let found = try await check(led, of: inputCount) { Leader(clock: $0, handing: .early) }
        #expect(found.rules == [.takesConcurrentRequests])
        // Those that are spared. Of two ways to cancel either may meet the first, where others may come before it.
        let possible = counts.map { ["\(spared) \($0) of them ended as cancelled."] }
        #expect(possible.contains(found.messages), "\(found.messages)")
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

    @Test("is broken by a provider of which the last does the work for all, and fails all with its cancel")
    func last() async throws {
        let found = try await check { Newest(clock: $0, handing: .late) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 2 of them failed."
            ])
    }

    @Test(
        "is broken by it also if the last does so with one of two or four inputs only, early or late",
        arguments: [(1, 2), (2, 2), (1, 4), (2, 4), (3, 4), (4, 4)])
    func lastOfOneInput(led: Int, inputCount: Int) async throws {
        for handing in [Handing.early, .late] {
            let found = try await check(led, of: inputCount) { Newest(clock: $0, handing: handing) }
            #expect(found.rules == [.takesConcurrentRequests], "\(handing)")
            #expect(found.messages.allSatisfy { $0.hasPrefix("\(spared) ") }, "\(handing) \(found.messages)")
        }
        #expect(try await check(led, of: inputCount) { Newest(clock: $0, handing: .none) }.messages == [])
    }

    /// With so many inputs, for one of which another provider is asked.
    private func check<P: DataProvider<Int, Int>>(
        _ led: Int, of inputCount: Int, _ make: @escaping @Sendable (ManualClock) -> P
    ) async throws -> Finding {
        let makeAll = { @Sendable (clock: ManualClock) in
            let leading = make(clock)
            return ClosureDataProvider { (input: Int) in
                if input == led { return try await leading.request(input) }
                try await clock.sleep(for: .seconds(1))
                return input
            }
        }
        return inputCount == 2
            ? try await check(inputs: 2) { makeAll($0) } : try await check(inputs: 2, 3, 4) { makeAll($0) }
    }
}

/// Which cancel of the one that does the work is handed on to the others, before the work has begun or after.
private enum Handing { case none, early, late, both }

/// The first does the work, and all others wait for what comes of it. After a cancel that isn't handed on the next of
/// them does it.
private final class Leader: DataProvider {
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

/// The newest of those that have come within 10 ms does the work for the others. After a cancel that isn't handed on
/// the one before does it.
private final class Newest: DataProvider {
    private struct State {
        var numbers: [Int] = []
        var last = 0
        var result: Result<Int, any Error>?
    }

    private let state = Watched(State())
    private let clock: ManualClock
    private let handing: Handing

    init(clock: ManualClock, handing: Handing) {
        self.clock = clock
        self.handing = handing
    }

    func request(_ input: Int) async throws -> Int {
        let number = state.change { state in
            if state.numbers.isEmpty { state.result = nil }
            state.last += 1
            state.numbers.append(state.last)
            return state.last
        }
        do {
            try await clock.sleep(for: .milliseconds(10))
            try await state.wait { $0.result != nil || $0.numbers.last == number }
        } catch {
            leave(number, handing: .early)
            throw error
        }
        if let result = state.value.result { return try end(number, result) }
        do {
            try await clock.sleep(for: .seconds(1))
        } catch {
            leave(number, handing: .late)
            throw error
        }
        state.change { $0.result = .success(input) }
        return try end(number, .success(input))
    }

    private func end(_ number: Int, _ result: Result<Int, any Error>) throws -> Int {
        state.change { state in state.numbers.removeAll { $0 == number } }
        return try result.get()
    }

    private func leave(_ number: Int, handing moment: Handing) {
        state.change { [handing] state in
            let isNewest = state.numbers.last == number
            state.numbers.removeAll { $0 == number }
            guard isNewest && !state.numbers.isEmpty, handing == moment || handing == .both else { return }
            state.result = .failure(Trouble.first)
        }
    }
}
