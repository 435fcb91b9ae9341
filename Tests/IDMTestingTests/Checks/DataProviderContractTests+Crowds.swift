import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What becomes of requests that are made at once.
extension DataProviderContractTests {
    @Test("is broken by a callback provider that has room for one completion")
    func oneSlot() async throws {
        let found = try await check { Desk(clock: $0, way: .oneSlot) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected 20 requests at once to be answered once each, and 19 of them ended without an answer."
            ])
    }

    @Test("is broken by a callback provider that calls back once too often where there are many")
    func repeating() async throws {
        let found = try await check { Desk(clock: $0, way: .repeating) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected 20 requests at once to be answered once each, and 19 of them called back more often than once."
            ])
    }

    @Test("is broken by a callback provider whose cancel handler drops other requests, or fails them")
    func meddlingOtherwise() async throws {
        let harms: [(Desk.Way, String)] = [
            (.dropping, "ended without an answer."), (.failing, "failed."),
            (.failingAndAnswering, "called back more often than once."),
        ]
        for (way, words) in harms {
            let found = try await check { Desk(clock: $0, way: way) }
            #expect(found.rules == [.takesConcurrentRequests])
            #expect(
                found.messages == [
                    "expected the cancel of some of 20 requests to leave the others alone, and 10 of them \(words)"
                ])
        }
    }

    @Test("is broken by a provider that fails all beside a cancel six times in a row: five may be chance")
    func failingOften() async throws {
        for count in 1...6 {
            let (made, failed) = (Watched(0), Watched(0))
            let found = try await check(rules: [.takesConcurrentRequests]) { clock in
                // Each time it is asked with nobody cancelled, after it and before it by turns, and from the second time
                // on once for nothing but to be elsewhere in a count.
                let isMeant = [1, 5, 7, 11, 13, 17].prefix(count).contains(made.countOne())
                if isMeant { failed.change { $0 += 1 } }
                return Desk(clock: clock, way: isMeant ? .failing : .none)
            }
            #expect(failed.value == count)
            guard count < 6 else {
                #expect(found.rules == [.takesConcurrentRequests])
                continue
            }
            #expect(found.rules == [])
            // The three other ways to cancel and the two looks at later requests make one each.
            #expect(made.value == 2 + count * 3 + 3 + 2)
        }
    }

    @Test("is broken by a provider that mixes up the answers of many, seen where they have several inputs")
    func mixedUp() async throws {
        let found = try await check(inputs: 2, 3) { Mixing(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected 20 requests at once to be answered once each, and 13 of them got the answer to another input."
            ])
        #expect(try await broken { Mixing(clock: $0) } == [])
        #expect(try await check(inputs: 2) { Desk(clock: $0, way: .mixing) }.rules == [.takesConcurrentRequests])
    }

    @Test("isn't broken by a provider of which one in many mixes up answers, as may happen by chance")
    func mixedUpOnce() async throws {
        let made = Watched(0)
        let found = try await check(inputs: 2, 3, rules: [.takesConcurrentRequests]) { clock in
            // After one for each input alone, and one for each of six ways to cancel.
            Mixing(clock: clock, isMixing: made.countOne() == 3 + 6 + 1)
        }
        #expect(found.rules == [])
        // It was looked at: six times the answers of each input alone, and the next crowd. Two are for later requests.
        #expect(made.value == 10 + 6 * 3 + 1 + 2)
    }

    @Test("is kept by a provider that answers each input alike, and by one whose answers differ anyhow")
    func answersOfSeveral() async throws {
        #expect(try await check(inputs: 2, 3) { Echo<Int>().delay(.seconds(1), clock: $0) }.rules == [])
        #expect(try await check(inputs: 2, 3) { _ in Calling(.once) }.rules == [])
        #expect(try await check(inputs: 2) { Counting(clock: $0, isCut: false) }.rules == [])
        let count = Watched(0)
        let found = try await check(inputs: 2, 3) { _ in
            ClosureDataProvider { (input: Int) in
                count.countOne()
            }
        }
        #expect(found.rules == [])
        #expect(try await check(inputs: 2, 3) { _ in Numbering() }.rules == [])
    }

    @Test("is kept by a provider that fails now and then, and by streams of different lengths")
    func varying() async throws {
        #expect(try await broken { _ in Fickle() } == [])
        #expect(try await broken { Counting(clock: $0, isCut: false, isVarying: true) } == [])
    }

    @Test("is broken by a provider of which a cancelled request doesn't end where there are many")
    func deafAmongMany() async throws {
        let found = try await check { DeafAmongMany(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == ["expected all that were cancelled of 20 requests to end, and 10 did not."])
    }

    @Test("is broken by a provider of which a newer request ends an older one as cancelled")
    func superseding() async throws {
        let found = try await check { Superseding(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected 20 requests at once to be answered once each, and 19 of them ended as cancelled."
            ])
    }

    @Test("is broken by a callback provider that goes on after its cancel only once it has begun")
    func goesOnOnceBegun() async throws {
        let found = try await check { Desk(clock: $0, way: .goingOn) }
        #expect(found.rules == [.answersOnce])
        #expect(found.messages == ["expected one callback for a cancelled request at most, and 2 came."])
    }

    @Test("asks everything that it makes, so that a stub isn't left unused")
    func stubs() async throws {
        try await TestScope.run {
            #expect(try await DataProviderContract.check(input: 1) { StubDataProvider<Int, Int>(1) } == [])
            let erased = try await DataProviderContract.check(input: 1) {
                StubDataProvider<Int, Int>(1).map { $0 }.eraseToAnyDataProvider()
            }
            #expect(erased == [])
        }
    }

    @Test("is broken by a provider that is held after use, also if it is erased")
    func heldAndErased() async throws {
        let kept = Watched<[Fickle]>([])
        let found = try await check { _ in Fickle(keptIn: kept).eraseToAnyDataProvider() }
        #expect(found.messages == ["expected to be released after use, and something holds it."])
        #expect(try await broken { _ in Fickle().eraseToAnyDataProvider() } == [])
    }
}

/// Has the completions of all requests at one desk.
private final class Desk: CallbackDataProvider {
    typealias Completion = @Sendable (Result<Int, any Error>) -> Void

    /// What is wrong with it.
    enum Way {
        /// A request takes the place of the one before.
        case oneSlot
        /// A request has the one before called back once more.
        case repeating
        /// A cancel drops the others, or fails them, or does that and they answer all the same.
        case dropping, failing, failingAndAnswering
        /// A cancel calls back, and no more than that once the work has begun.
        case goingOn
        /// All get the answer to the first input.
        case mixing
        /// Nothing.
        case none
    }

    private let desk = Watched((last: 0, first: Int?.none, open: [Int: Completion]()))
    private let clock: ManualClock
    private let way: Way

    init(clock: ManualClock, way: Way) {
        self.clock = clock
        self.way = way
    }

    func request(_ input: Int, completion: @escaping Completion) -> CancelHandler? {
        let (desk, way, clock) = (desk, way, clock)
        let (number, before) = desk.change { desk in
            desk.last += 1
            desk.first = desk.first ?? input
            let (number, before) = (desk.last, desk.open[desk.last - 1])
            if way == .oneSlot { desk.open = [:] }
            desk.open[number] = completion
            return (number, before)
        }
        if way == .repeating { before?(.success(input)) }
        let hasBegun = Watched(false)
        LibraryTask.start(clock: clock, isolation: nil) { _ in
            try? await clock.sleep(for: .milliseconds(5))
            hasBegun.change { $0 = true }
            try? await clock.sleep(for: .seconds(1))
            let completion = desk.change { $0.open.removeValue(forKey: number) }
            completion?(.success(way == .mixing ? desk.value.first ?? input : input))
        }
        return {
            let all = desk.change { desk -> [Int: Completion] in
                let isForAll = [.dropping, .failing, .failingAndAnswering].contains(way)
                let all = desk.open.filter { isForAll || $0.key == number }
                let isKept = { (other: Int) in
                    way == .failingAndAnswering ? other != number : way == .goingOn && hasBegun.value
                }
                desk.open = desk.open.filter { all[$0.key] == nil || isKept($0.key) }
                return all
            }
            all[number]?(.failure(CancellationError()))
            guard way == .failing || way == .failingAndAnswering else { return }
            for (other, completion) in all where other != number { completion(.failure(Trouble.first)) }
        }
    }
}

/// Fails every third time.
private final class Fickle: DataProvider {
    private let count = Watched(0)
    private let kept: Watched<[Fickle]>?

    /// - Parameter kept: Holds whoever is asked, if it is there.
    init(keptIn kept: Watched<[Fickle]>? = nil) { self.kept = kept }

    func request(_ input: Int) async throws -> Int {
        kept?.change { $0.append(self) }
        let number = count.countOne()
        if number.isMultiple(of: 3) { throw Trouble.first }
        return input
    }
}

/// Counts its answers, and has the count in each.
private final class Numbering: DataProvider {
    private let count = Watched(0)

    func request(_ input: Int) async throws -> Int {
        let number = count.countOne()
        return number * 1000 + input
    }
}

/// Answers after some time, with the input that it was asked with first if it mixes.
private final class Mixing: DataProvider {
    private let first = Watched<Int?>(nil)
    private let clock: ManualClock
    private let isMixing: Bool

    init(clock: ManualClock, isMixing: Bool = true) {
        self.clock = clock
        self.isMixing = isMixing
    }

    func request(_ input: Int) async throws -> Int {
        first.change { $0 = $0 ?? input }
        try await clock.sleep(for: .seconds(1))
        return isMixing ? first.value ?? input : input
    }
}

/// Answers after some time, and hears no cancel beside another request.
private final class DeafAmongMany: DataProvider {
    private let open = Watched(0)
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        open.change { $0 += 1 }
        defer { open.change { $0 -= 1 } }
        do {
            try await clock.sleep(for: .seconds(1))
        } catch {
            if open.value > 1 { _ = try await Deaf(duration: .seconds(11), clock: clock).request(input) }
            throw error
        }
        return input
    }
}

/// Answers after some time. A new request cancels the one before.
private final class Superseding: DataProvider {
    private let running = Watched<Task<Int, any Error>?>(nil)
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let task = clock.secondOfWork(with: input)
        let before = running.change { running in
            defer { running = task }
            return running
        }
        before?.cancel()
        return try await task.valueHearingCancel
    }
}
