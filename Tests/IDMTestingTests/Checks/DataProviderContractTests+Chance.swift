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
            let counts = Self.intervals.flatMap { interval in Set([0, 1, interval - 1]).map { (interval, $0) } }
            for (interval, start) in counts {
                let count = Watched(start)
                let found = try await check { _ in NowAndThen(fault, every: interval, count: count) }
                let others = found.rules.subtracting([.answersOnce, .takesConcurrentRequests])
                #expect(!found.rules.isEmpty && others.isEmpty, "\(fault) \(interval) from \(start): \(found.rules)")
                // They answer at once, so none of them is cancelled.
                for message in found.messages where message.contains("20 requests") {
                    let isRight = message.hasPrefix("expected 20 requests at once to be answered once each, and ")
                    #expect(isRight && message.hasSuffix("\(words)."), "\(interval) from \(start): \(message)")
                }
            }
        }
    }

    @Test("is broken in another rule by a fault that many show and that one request has alone, with any input")
    func faultOfEach() async throws {
        for input in [1, 3] {
            // It is right when it is first asked for an answer, and wrong from then on.
            let made = Watched(0)
            let found = try await check(inputs: 2, 3) { _ in
                let isRight = made.countOne() == 1
                return ClosureDataProvider { (asked: Int) in
                    if !isRight && asked == input { throw CancellationError() }
                    return asked
                }
            }
            #expect(found.messages == ["expected a value or an error, and it ended as cancelled."], "\(input)")
            #expect(found.rules == [.answersOnce], "\(input)")
        }
        // What nobody has asked for isn't told.
        let some = try await check(rules: [.takesConcurrentRequests]) { _ in
            NowAndThen(.twice, every: 1, count: Watched(0))
        }
        #expect(some.rules == [])
    }

    @Test("says of a fault that some requests have beside a cancel, not each time, that some were cancelled")
    func faultBesideCancel() async throws {
        let made = Watched(0)
        let found = try await check(rules: [.takesConcurrentRequests]) { clock in
            // At the first look only.
            MeddlingCaller(clock: clock, meddles: made.countOne() == 1)
        }
        #expect(
            found.messages == [
                "expected 20 requests at once to be answered once each, and 10 of them ended as cancelled where some "
                    + "were cancelled."
            ])
    }

    @Test("is broken by a provider of which every so often one is deaf to its cancel", arguments: intervals.prefix(4))
    func deafByCount(interval: Int) async throws {
        for start in [0, 1, interval - 1] {
            let count = Watched(start)
            let found = try await check {
                DeafNowAndThen(duration: .seconds(30), clock: $0, interval: interval, count: count)
            }
            #expect(!found.rules.isDisjoint(with: [.hearsCancel, .takesConcurrentRequests]), "\(start)")
        }
    }

    @Test("is broken if one of three requests, made one after the other, is deaf to its cancel")
    func deafOnce() async throws {
        for number in 1...4 {
            let count = Watched(4 - number)
            let found = try await check(rules: [.hearsCancel]) {
                DeafNowAndThen(duration: .seconds(5), clock: $0, interval: 4, count: count)
            }
            #expect(found.rules == (number < 4 ? [.hearsCancel] : []), "\(number)")
        }
    }

    @Test("is broken by a provider of which more fail beside a cancel than without one")
    func failingMore() async throws {
        let found = try await check { FailingBesideCancel(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(found.messages == ["\(spared) 3 of them failed, and 1 where none was cancelled."])
    }

    @Test("looks six times where a stream ends early beside a cancel: three may be chance")
    func shortByChance() async throws {
        // The first crowd, and one of which none is cancelled. From then on each look has some that meet a server
        // elsewhere in its count, and both crowds, by turns.
        let looks = [1, 5, 7, 11, 13, 17]
        #expect(try await found(short: Set(looks)) == ["\(spared) 1 of them ended early."])
        for count in 1..<looks.count { #expect(try await found(short: Set(looks.prefix(count))) == [], "\(count)") }
    }

    @Test("says nothing of a stream that ends early, if others do so where none is cancelled, at any time")
    func shortAnyhow() async throws {
        // All looks at the second way to cancel.
        let looks: Set = [3, 7, 9, 13, 15, 19]
        #expect(try await found(short: looks) == ["\(spared) 1 of them ended early."])
        // One of which none is cancelled, at the first way.
        #expect(try await found(short: looks.union([2])) == [])
    }

    /// What is found where streams end early in some of the crowds.
    private func found(short crowds: Set<Int>) async throws -> [String] {
        let made = Watched(0)
        return try await check(rules: [.takesConcurrentRequests]) { clock in
            Ending(isShort: crowds.contains(made.countOne()), clock: clock)
        }.messages
    }

    @Test("is kept by streams that are the longer, the later they are opened")
    func growing() async throws {
        for inputs in [1, 2] {
            let opened = Watched(0)
            let make = { @Sendable (clock: ManualClock) in
                let number = opened.countOne()
                return ClosureStream { input in
                    clock.stream(first: input) { continuation in
                        try await clock.sleep(for: .milliseconds(100))
                        for _ in 0..<number { continuation.yield(input) }
                    }
                }
            }
            let found = inputs == 1 ? try await check { make($0) } : try await check(inputs: 2) { make($0) }
            #expect(found.messages == [])
        }
    }
}

/// A stream for each input.
private struct ClosureStream: StreamDataProvider {
    let open: @Sendable (Int) -> AsyncThrowingStream<Int, any Error>

    func values(for input: Int) -> AsyncThrowingStream<Int, any Error> { open(input) }
}

/// Does something wrong every so often, by a count of all.
private struct NowAndThen: CallbackDataProvider {
    enum Fault { case twice, never, cancelled }

    let fault: Fault
    let interval: Int
    let count: Watched<Int>

    init(_ fault: Fault, every interval: Int, count: Watched<Int>) {
        self.fault = fault
        self.interval = interval
        self.count = count
    }

    func request(_ input: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> CancelHandler? {
        guard count.countOne().isMultiple(of: interval) else {
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

/// A stream of two values. Of twenty of them the first one and the last one may end early: of these two every way to
/// cancel some spares one.
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

/// The first request that comes to its end fails anyhow, and two more do if one has been cancelled.
private final class FailingBesideCancel: DataProvider {
    private let state = Watched((count: 0, isCancelled: false))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        try await withTaskCancellationHandler {
            try await clock.sleep(for: .seconds(1))
        } onCancel: {
            state.change { $0.isCancelled = true }
        }
        let fails = state.change { state in
            state.count += 1
            return state.count <= (state.isCancelled ? 3 : 1)
        }
        if fails { throw Trouble.first }
        return input
    }
}
