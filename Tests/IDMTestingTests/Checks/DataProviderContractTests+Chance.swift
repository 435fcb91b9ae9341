import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What comes now and then: a fault is found wherever it falls, and what is no fault isn't taken for one.
extension DataProviderContractTests {
    private static let intervals = [2, 3, 5, 7, 11, 23, 40]

    @Test("is broken by a provider that calls back twice every so often, or never, or ends as cancelled")
    func faultByCount() async throws {
        let faults: [(NowAndThen.Fault, String)] = [
            (.twice, "called back more often than once"), (.never, "ended without an answer"),
            (.cancelled, "ended as cancelled"),
        ]
        for (fault, words) in faults {
            let counts = Self.intervals.flatMap { interval in [0, 1, interval - 1].map { (interval, $0) } }
            for (interval, start) in counts {
                let count = Watched(start)
                let found = try await check { _ in NowAndThen(fault, every: interval, count: count) }
                let others = found.rules.subtracting([.answersOnce, .takesConcurrentRequests])
                #expect(!found.rules.isEmpty && others.isEmpty, "\(fault) \(interval) from \(start): \(found.rules)")
                for message in found.messages where message.contains("20 requests") {
                    #expect(message.contains(words), "\(interval) from \(start)")
                }
            }
        }
    }

    @Test("tells of a fault that one request has alone, though it was missed before, as of one of each request")
    func foundLater() async throws {
        // The second one that is made alone, after the first of the crowds.
        let found = try await check { _ in NowAndThen(.twice, every: 2, count: Watched(0), isCrowd: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        let count = Watched(0)
        let all = try await check { _ in NowAndThen(.twice, every: 2, count: count) }
        #expect(all.messages == ["expected one callback for a request, and 2 came."])
        #expect(all.rules == [.answersOnce])
        // What nobody has asked for isn't told.
        let other = Watched(1)
        let some = try await check(rules: [.takesConcurrentRequests]) { _ in
            NowAndThen(.twice, every: 1, count: other)
        }
        #expect(some.rules == [])
    }

    @Test("is broken by a provider that is deaf to its cancel every so often", arguments: intervals.prefix(5))
    func deafByCount(interval: Int) async throws {
        for start in [0, 1, interval - 1] {
            let count = Watched(start)
            let found = try await check {
                DeafNowAndThen(duration: .seconds(30), clock: $0, interval: interval, count: count)
            }
            #expect(!found.rules.isDisjoint(with: [.hearsCancel, .takesConcurrentRequests]), "\(start)")
            // Among many, where each is given the time of a request to end, nobody would see it.
            let few = Watched(start)
            let seen = try await check(rules: [.hearsCancel]) {
                DeafNowAndThen(duration: .seconds(5), clock: $0, interval: interval, count: few)
            }
            #expect(seen.rules == (start + 3 >= interval ? [.hearsCancel] : []), "\(start)")
        }
    }

    @Test("looks six times where a stream ends early beside a cancel: three may be chance")
    func shortByChance() async throws {
        func found(short crowds: Set<Int>) async throws -> [String] {
            let made = Watched(0)
            return try await check(rules: [.takesConcurrentRequests]) { clock in
                Ending(isShort: crowds.contains(made.countOne()), clock: clock)
            }.messages
        }
        // The first crowd, one request alone, one of which none is cancelled. From then on each look has some that meet
        // a server elsewhere in its count, a crowd, and one of which none is cancelled.
        let looks = [1, 5, 8, 11, 14, 17]
        #expect(try await found(short: Set(looks)) == ["\(spared) 1 of them ended early."])
        for count in 1..<looks.count { #expect(try await found(short: Set(looks.prefix(count))) == [], "\(count)") }
    }

    @Test("says nothing of a stream that ends early, if others do so where none is cancelled, at any time")
    func shortAnyhow() async throws {
        func found(short crowds: Set<Int>) async throws -> [String] {
            let made = Watched(0)
            return try await check(rules: [.takesConcurrentRequests]) { clock in
                Ending(isShort: crowds.contains(made.countOne()), clock: clock)
            }.messages
        }
        // All looks at the second way to cancel.
        let looks: Set = [4, 7, 10, 13, 16, 19]
        #expect(try await found(short: looks) == ["\(spared) 1 of them ended early."])
        // One of which none is cancelled, at the first way.
        #expect(try await found(short: looks.union([3])) == [])
    }
}

/// Does something wrong every so often, by a count that may be that of all.
private struct NowAndThen: CallbackDataProvider {
    enum Fault { case twice, never, cancelled }

    let fault: Fault
    let interval: Int
    let count: Watched<Int>
    /// Counts what this one is asked only.
    let own: Watched<Int>?

    init(_ fault: Fault, every interval: Int, count: Watched<Int>, isCrowd: Bool = false) {
        self.fault = fault
        self.interval = interval
        self.count = count
        own = isCrowd ? Watched(0) : nil
    }

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        guard (own ?? count).countOne().isMultiple(of: interval) else {
            completion(.success(input))
            return nil
        }
        switch fault {
        case .twice: for _ in 0..<2 { completion(.success(input)) }
        case .never: break
        case .cancelled: completion(.failure(CancellationError()))
        }
        return nil
    }
}

/// Answers after a second, and every so often takes a long time to end once it is cancelled.
private struct DeafNowAndThen: DataProvider {
    let duration: Duration
    let clock: ManualClock
    let interval: Int
    let count: Watched<Int>

    func request(_ input: Int) async throws -> Int {
        let isDeaf = count.countOne().isMultiple(of: interval)
        do {
            try await clock.sleep(for: .seconds(1))
            return input
        } catch {
            if isDeaf { _ = try await Deaf(duration: duration, clock: clock).request(input) }
            throw error
        }
    }
}

/// A stream of two values. The last of twenty that are open has only the first of them, or the first of them where the
/// last is cancelled.
private final class Ending: StreamDataProvider {
    private let requests = Watched(0)
    private let isShort: Bool
    private let clock: ManualClock

    init(isShort: Bool, clock: ManualClock) {
        self.isShort = isShort
        self.clock = clock
    }

    func values(for input: Int) -> AsyncThrowingStream<Int, any Error> {
        let number = requests.countOne()
        let isCut = isShort && (number == 1 || number == 20)
        return clock.stream(first: input) { [clock] continuation in
            try await clock.sleep(for: .milliseconds(100))
            if !isCut { continuation.yield(input) }
        }
    }
}
