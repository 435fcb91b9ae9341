import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What depends on the input.
extension DataProviderContractTests {
    @Test("is kept by a stream of which one input takes longer, and has fewer values than the others")
    func lengthsByInput() async throws {
        #expect(try await check(inputs: 2, 3) { Newer(clock: $0) }.messages == [])
    }

    @Test("is broken by what a cancel does to others, also where one of the inputs fails anyhow")
    func failingInput() async throws {
        let found = try await check(inputs: 2, 3) { Sharing(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        let words = "expected the cancel of some of 20 requests to leave the others alone, and "
        #expect(found.messages.first?.hasPrefix(words) == true)
        #expect(try await check(inputs: 3, 4) { Sharing(clock: $0, isCancelHanded: false) }.messages == [])
    }

    @Test("is broken by a provider that keeps what comes of a cancelled request as an answer")
    func keepsNothing() async throws {
        let found = try await check(inputs: 2, 3) { Keeping(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of a request to leave a later one alone, and it got another answer than alone."
            ])
        // Of which answer is right, one input says nothing.
        #expect(try await broken { Keeping(clock: $0) } == [])
    }

    @Test("is kept by a stream of what is known, which has loaded more when others ask later")
    func observed() async throws {
        for isEndless in [false, true] {
            #expect(try await check(inputs: 2, 3) { Observed(clock: $0, isEndless: isEndless) }.messages == [])
        }
    }

    @Test("is kept by a stream that takes a moment to end after its cancel, while what all share goes on")
    func slowEnds() async throws {
        for (load, end) in [(40, 60), (30, 30), (60, 100)] {
            let found = try await check(inputs: 2, 3) { SlowEnd(clock: $0, load: load, end: end) }
            #expect(found.messages == [], "\(load)")
        }
        // Also where what is loaded is what is known of another input.
        for (load, end) in [(10, 0), (40, 60)] {
            let found = try await check(inputs: 2, 3) { clock in
                SlowEnd(clock: clock, known: [1: 1], loaded: [1: 1, 2: 1, 3: 1], load: load, end: end)
            }
            #expect(found.messages == [], "\(load)")
        }
    }

    @Test("is kept by a provider that learns what it knows of another input already")
    func learning() async throws {
        #expect(try await check(inputs: 2, 3) { Learning(clock: $0) }.messages == [])
    }

    @Test("is kept by a stream of which what all share takes a little longer now and then", arguments: 0..<3)
    func slowLoads(phase: Int) async throws {
        let made = Watched(0)
        let found = try await check(inputs: 2, 3) { clock in
            SlowEnd(clock: clock, load: made.countOne() % 3 == phase ? 35 : 45, end: 20)
        }
        #expect(found.messages == [])
    }

    @Test("is broken by a provider that keeps answers under the wrong key")
    func keyless() async throws {
        let found = try await check(inputs: 2) { Keyless(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected a request after others to be answered, and it got the answer to another input."
            ])
    }

    @Test("is broken by a provider whose lines are used by turns, with answers still to come")
    func linesByTurns() async throws {
        let found = try await check(inputs: 2, 3) { Turns(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of 20 requests to leave a later one alone, and it got the answer to another input."
            ])
    }

    @Test("is broken by a provider that fails an input after its cancel, also if its answers are others each time")
    func numberedAndPoisoned() async throws {
        let found = try await check(inputs: 2, 3) { Numbered(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(found.messages == ["expected the cancel of a request to leave a later one alone, and it failed."])
        #expect(try await check(inputs: 2, 3) { Numbered(clock: $0, interval: 3) }.messages == [])
    }

    @Test("is kept by a provider whose answers are among few, and others each time")
    func turning() async throws {
        for answers in 4...7 {
            let made = Watched(0)
            let found = try await check(inputs: 2, 3) { _ in
                let turn = made.countOne()
                return ClosureDataProvider { (input: Int) in (input + turn) % answers }
            }
            #expect(found.messages == [], "\(answers)")
        }
    }
}

/// A stream of what is known, and of what is newer. The first input takes longer, and has nothing newer.
private struct Newer: StreamDataProvider {
    let clock: ManualClock

    func values(for input: Int) -> AsyncThrowingStream<Int, any Error> {
        clock.stream(first: input) { [clock] continuation in
            try await clock.sleep(for: .milliseconds(input == 1 ? 120 : 40))
            if input != 1 { continuation.yield(input) }
        }
    }
}

/// All wait for one log-in, which anybody's cancel ends. The third input fails.
private final class Sharing: DataProvider {
    private let running = Watched<Task<Int, any Error>?>(nil)
    private let clock: ManualClock
    private let isCancelHanded: Bool

    init(clock: ManualClock, isCancelHanded: Bool = true) {
        self.clock = clock
        self.isCancelHanded = isCancelHanded
    }

    func request(_ input: Int) async throws -> Int {
        let task = running.change { [clock] running in
            let task = running ?? clock.secondOfWork(with: 0)
            running = task
            return task
        }
        do {
            if isCancelHanded { _ = try await task.valueHearingCancel } else { try await clock.sleep(for: .seconds(1)) }
        } catch {
            throw Task.isCancelled ? error : Trouble.first
        }
        if input == 3 { throw Trouble.first }
        return input
    }
}

/// A store that is observed: a stream of what is known, first nothing, then what has been loaded for all inputs.
private final class Observed: StreamDataProvider {
    private let known = Watched<[Int: Int]>([:])
    private let clock: ManualClock
    private let isEndless: Bool

    init(clock: ManualClock, isEndless: Bool) {
        self.clock = clock
        self.isEndless = isEndless
    }

    func values(for input: Int) -> AsyncThrowingStream<Int, any Error> {
        clock.stream(first: known.value[input] ?? 0) { [clock, known, isEndless] continuation in
            try await clock.sleep(for: .milliseconds(10))
            known.change { $0 = [1: 1, 2: 2, 3: 3] }
            continuation.yield(input)
            try await clock.sleep(for: .milliseconds(100))
            if isEndless { try await Watched(false).wait { $0 } }
        }
    }
}

/// A store that is observed: a stream of what is known, first nothing, then what the store loads by itself. Who is
/// cancelled takes a moment to end.
private final class SlowEnd: StreamDataProvider {
    private let known: Watched<[Int: Int]>
    private let loaded: [Int: Int]
    private let clock: ManualClock
    private let load: Int
    private let end: Int

    /// - Parameters:
    ///   - known: What is known from the beginning.
    ///   - loaded: What is known then.
    ///   - load: After how many milliseconds it is.
    ///   - end: How many milliseconds it takes to end.
    init(
        clock: ManualClock, known: [Int: Int] = [:], loaded: [Int: Int] = [1: 1, 2: 2, 3: 3], load: Int, end: Int
    ) {
        self.known = Watched(known)
        self.loaded = loaded
        self.clock = clock
        self.load = load
        self.end = end
    }

    func values(for input: Int) -> Values {
        LibraryTask.start(clock: clock, isolation: nil) { [clock, known, loaded, load] _ in
            try? await clock.sleep(for: .milliseconds(load))
            known.change { $0 = loaded }
        }
        return Values(store: self, first: known.value[input] ?? 0)
    }

    struct Values: AsyncSequence, AsyncIteratorProtocol {
        let store: SlowEnd
        var first: Int?

        func makeAsyncIterator() -> Values { self }

        mutating func next() async throws -> Int? { try await next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> Int? {
            if let first = first.take() { return first }
            do {
                try await Watched(false).wait { $0 }
            } catch {
                _ = try? await Deaf(duration: .milliseconds(store.end), clock: store.clock).request(0)
                throw error
            }
            return nil
        }
    }
}

/// Knows one of what all is. It learns the rest while it answers.
private final class Learning: DataProvider {
    private let known = Watched([1: 1])
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let answer = known.value[input] ?? 0
        try await clock.sleep(for: .milliseconds(15))
        known.change { $0 = [1: 1, 2: 1, 3: 1] }
        return answer
    }
}

/// Keeps the last answer, for whatever input.
private final class Keyless: DataProvider {
    private let kept = Watched<Int?>(nil)
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        if let kept = kept.value { return kept }
        try await clock.sleep(for: .seconds(1))
        kept.change { $0 = input }
        return input
    }
}

/// As many lines as there are requests at once, two at least, each used when all others have been since. Who is
/// cancelled leaves its answer on the line. After one, each finds its own there. After many, whoever comes next finds
/// what the first of them has left, and comes with another input.
private final class Turns: DataProvider {
    private typealias Line = (answers: Watched<[Int]>, lastUse: Int)

    private let state = Watched((free: (0..<2).map { _ in Line(Watched([]), 0) }, uses: 0))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let line = state.change { state in
            state.uses += 1
            let next = state.free.indices.min { state.free[$0].lastUse < state.free[$1].lastUse }
            return Line(next.map { state.free.remove(at: $0).answers } ?? Watched([]), state.uses)
        }
        defer { state.change { $0.free.append(line) } }
        LibraryTask.start(clock: clock, isolation: nil) { [clock] _ in
            try? await clock.sleep(for: .seconds(1))
            line.answers.change { $0.append(input) }
        }
        try await line.answers.wait { !$0.isEmpty }
        return line.answers.change { $0.removeFirst() }
    }
}

/// Keeps the answers, and nothing where there is none.
private final class Keeping: DataProvider {
    private let answers = Watched<[Int: Int]>([:])
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        if let known = answers.value[input] { return known }
        let answer = (try? await clock.secondOfWork(with: input).valueHearingCancel) ?? 0
        answers.change { $0[input] = answer }
        try Task.checkCancellation()
        return answer
    }
}

/// Numbers its answers. It fails inputs that were cancelled, or every so often of those that come when it is at rest.
private final class Numbered: DataProvider {
    private static let last = Watched(0)
    private let state = Watched((open: 0, count: 0, cancelled: Set<Int>()))
    private let clock: ManualClock
    private let interval: Int?

    init(clock: ManualClock, interval: Int? = nil) {
        self.clock = clock
        self.interval = interval
    }

    func request(_ input: Int) async throws -> Int {
        let fails = state.change { [interval] state in
            state.open += 1
            if state.open == 1 { state.count += 1 }
            guard let interval else { return state.cancelled.contains(input) }
            return state.open == 1 && state.count.isMultiple(of: interval)
        }
        defer { state.change { $0.open -= 1 } }
        if fails { throw Trouble.first }
        do {
            try await clock.sleep(for: .seconds(1))
        } catch {
            state.change { $0.cancelled.insert(input) }
            throw error
        }
        return Self.last.countOne()
    }
}
