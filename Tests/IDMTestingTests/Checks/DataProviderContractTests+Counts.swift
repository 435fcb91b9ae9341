import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What providers do that count.
extension DataProviderContractTests {
    @Test("is broken by a provider of which one cancel leaves all others without an end")
    func lostPlace() async throws {
        let found = try await check { Places(count: 1, clock: $0, losesPlace: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 10 of them did not end."
            ])
    }

    @Test("is broken by a provider that loses a place with each cancel, and has more places than it loses")
    func places() async throws {
        let found = try await check { Places(count: 11, clock: $0, losesPlace: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == ["expected the cancel of 20 requests to leave a later one alone, and it did not end."])
        #expect(try await broken { Places(count: 11, clock: $0, losesPlace: false) } == [])
    }

    @Test("is kept by a provider that fails every so often, counted when it is asked or when it has done its work")
    func failingByCount() async throws {
        for interval in [1, 2, 3, 4, 5, 6, 7, 11, 12, 20, 21] {
            for countsAtEnd in [false, true] {
                let found = try await check { Counted(clock: $0, interval: interval, countsAtEnd: countsAtEnd) }
                #expect(found.messages == [], "\(interval) \(countsAtEnd)")
                let count = Watched(0)
                let sharing = try await check {
                    Counted(count, clock: $0, interval: interval, countsAtEnd: countsAtEnd)
                }
                #expect(sharing.messages == [], "\(interval) \(countsAtEnd), sharing a count")
            }
        }
    }

    @Test("is kept by providers that fail every so often by a count that a server keeps for all, wherever that stands")
    func sharedCount() async throws {
        for interval in [6, 7, 8, 9, 40, 41] {
            for (start, countsAtEnd) in (0..<interval).flatMap({ [($0, false), ($0, true)] }) {
                let count = Watched(start)
                let found = try await check(rules: [.takesConcurrentRequests]) {
                    Counted(count, clock: $0, interval: interval, countsAtEnd: countsAtEnd)
                }
                #expect(found.messages == [], "\(interval) from \(start), \(countsAtEnd)")
            }
        }
    }

    @Test("is kept by providers that fail every so often, whichever of several inputs that falls on")
    func countOfInputs() async throws {
        for (interval, countsAtEnd) in [2, 3, 9].flatMap({ [($0, false), ($0, true)] }) {
            for third in [nil, 3] {
                for start in 0..<interval {
                    let count = Watched(start)
                    let sharing = try await check(inputs: 2, third, rules: [.takesConcurrentRequests]) {
                        Counted(count, clock: $0, interval: interval, countsAtEnd: countsAtEnd)
                    }
                    #expect(sharing.messages == [], "\(interval) from \(start), \(countsAtEnd), sharing a count")
                }
                let found = try await check(inputs: 2, third, rules: [.takesConcurrentRequests]) {
                    Counted(clock: $0, interval: interval, countsAtEnd: countsAtEnd)
                }
                #expect(found.messages == [], "\(interval), \(countsAtEnd)")
            }
        }
    }

    @Test("is kept by a provider of which one of many fails, and beside a cancel one with another input")
    func unluckyOne() async throws {
        #expect(try await check(inputs: 2) { Unlucky(clock: $0) }.messages == [])
    }

    @Test("is kept by a provider that fails its first requests only")
    func waking() async throws {
        for count in [1, 2, 3, 10, 20, 21, 22] {
            for countsAtEnd in [false, true] {
                let found = try await check {
                    Counted(clock: $0, interval: 1, countsAtEnd: countsAtEnd, lastFailure: count)
                }
                #expect(found.messages == [], "\(count) \(countsAtEnd)")
            }
        }
    }

    @Test("is kept by a provider that fails by a count of those that it has had room for")
    func countedPlaces() async throws {
        #expect(try await check { Places(count: 4, clock: $0, losesPlace: false, interval: 5) }.messages == [])
    }

    @Test("asks no more of a provider of which a later request doesn't end after many were cancelled")
    func silentAfterMany() async throws {
        let found = try await check { Places(count: 11, clock: $0, losesPlace: true) }
        // The time of a request for each of three looks; of more requests each would take its own.
        #expect(found.waited < .seconds(60), "\(found.waited)")
    }
}

/// Has room for some requests at once. The others wait. With eleven there is room for one when ten of them are
/// cancelled.
private final class Places: DataProvider {
    private let places: Watched<Int>
    private let count = Watched(0)
    private let clock: ManualClock
    private let losesPlace: Bool
    private let interval: Int

    /// - Parameter interval: How often one fails that has found room.
    init(count: Int, clock: ManualClock, losesPlace: Bool, interval: Int = .max) {
        places = Watched(count)
        self.clock = clock
        self.losesPlace = losesPlace
        self.interval = interval
    }

    func request(_ input: Int) async throws -> Int {
        while !takePlace() { try await places.wait { $0 > 0 } }
        let number = count.countOne()
        do {
            try await clock.sleep(for: .milliseconds(100))
        } catch {
            if !losesPlace { leaveSoon() }
            throw error
        }
        places.change { $0 += 1 }
        if number.isMultiple(of: interval) { throw Trouble.first }
        return input
    }

    /// Once all have been cancelled that are, so that none of them takes the place.
    private func leaveSoon() {
        LibraryTask.start(clock: clock, isolation: nil) { [clock, places] _ in
            try? await clock.sleep(for: .milliseconds(1))
            places.change { $0 += 1 }
        }
    }

    private func takePlace() -> Bool {
        places.change { places in
            guard places > 0 else { return false }
            places -= 1
            return true
        }
    }
}

/// Fails every so often.
private final class Counted: DataProvider {
    private let count: Watched<Int>
    private let clock: ManualClock
    private let interval: Int
    private let countsAtEnd: Bool
    private let lastFailure: Int

    init(
        _ count: Watched<Int> = Watched(0), clock: ManualClock, interval: Int, countsAtEnd: Bool,
        lastFailure: Int = .max
    ) {
        self.count = count
        self.clock = clock
        self.interval = interval
        self.countsAtEnd = countsAtEnd
        self.lastFailure = lastFailure
    }

    func request(_ input: Int) async throws -> Int {
        if !countsAtEnd { try countOne() }
        try await clock.sleep(for: .seconds(1))
        if countsAtEnd { try countOne() }
        return input
    }

    private func countOne() throws {
        let number = count.countOne()
        if number <= lastFailure && number.isMultiple(of: interval) { throw Trouble.first }
    }
}

/// Fails one request, once it has done its work: the first with input 2, or among many of which some were cancelled the
/// first with input 1.
private final class Unlucky: DataProvider {
    private let state = Watched((count: 0, cancelled: false, failed: false))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        state.change { $0.count += 1 }
        do {
            try await clock.sleep(for: .seconds(1))
        } catch {
            state.change { $0.cancelled = true }
            throw error
        }
        let fails = state.change { state in
            let unlucky = state.cancelled && state.count >= 20 ? 1 : 2
            guard !state.failed && input == unlucky else { return false }
            state.failed = true
            return true
        }
        if fails { throw Trouble.first }
        return input
    }
}
