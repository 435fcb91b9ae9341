import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What a cancel leaves behind for whoever comes later.
extension DataProviderContractTests {
    @Test("is broken by a provider of which a cancel fails a later request, or has it wait for ever")
    func poisoned() async throws {
        for (isSilent, words) in [(false, "failed"), (true, "did not end")] {
            let found = try await check { Poisoned(clock: $0, isSilent: isSilent) }
            #expect(found.rules == [.takesConcurrentRequests])
            #expect(found.messages == ["\(later), and it \(words)."])
        }
    }

    @Test("is broken by a provider of which one cancel leaves all others without an end")
    func lostPlace() async throws {
        let found = try await check { Places(count: 1, clock: $0, losesPlace: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(
            found.messages == [
                "expected the cancel of some of 20 requests to leave the others alone, and 10 of them did not end."
            ])
    }

    @Test("is broken by a provider that takes itself for busy after a cancel")
    func busy() async throws {
        let found = try await check { Busy(clock: $0, forgetsCancel: true) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(found.messages == ["\(later), and it failed."])
        #expect(try await broken { Busy(clock: $0, forgetsCancel: false) } == [])
    }

    @Test("is broken by a provider that keeps the error of a cancelled request as an answer to its input")
    func remembering() async throws {
        for found in [
            try await check { Remembering(clock: $0) }, try await check(inputs: 2) { Remembering(clock: $0) },
        ] {
            #expect(found.rules == [.takesConcurrentRequests])
            #expect(found.messages == ["\(later), and it failed."])
        }
    }

    @Test("is broken by a provider that gives a line back with an answer still to come")
    func staleAnswer() async throws {
        for keepsAnswers in [true, false] {
            let found = try await check(inputs: 2) { Lines(clock: $0, keepsAnswers: keepsAnswers) }
            #expect(found.rules == [.takesConcurrentRequests], "\(keepsAnswers)")
            #expect(found.messages == ["\(later), and it got the answer to another input."], "\(keepsAnswers)")
        }
        #expect(try await check(inputs: 2) { Lines(clock: $0, keepsAnswers: nil) }.rules == [])
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
        for interval in 6...9 {
            for (start, countsAtEnd) in (0..<interval).flatMap({ [($0, false), ($0, true)] }) {
                let count = Watched(start)
                let found = try await check(rules: [.takesConcurrentRequests]) {
                    Counted(count, clock: $0, interval: interval, countsAtEnd: countsAtEnd)
                }
                #expect(found.messages == [], "\(interval) from \(start), \(countsAtEnd)")
            }
        }
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

    @Test("is kept by a provider that lets nobody in for a while after each request")
    func limiting() async throws {
        #expect(try await broken { Limiting(clock: $0) } == [])
    }

    @Test("looks once more where a request ends before its cancel, as it does where a timer is late")
    func lateTimer() async throws {
        let expected: [(DataProviderContract.Rule, late: Int, message: String)] = [
            (.hearsCancel, 1, "expected the end of a cancelled request, and none came."),
            // After one crowd for each way to cancel.
            (.takesConcurrentRequests, 4, "\(later), and it failed."),
        ]
        for (rule, late, message) in expected {
            let made = Watched(0)
            let found = try await check(rules: [rule]) { clock in
                Late(clock: clock, isLate: made.countOne() == late, isDeaf: rule == .hearsCancel)
            }
            #expect(found.messages == [message])
        }
    }

    @Test("is kept by a provider that fails by a count of those that it has had room for")
    func countedPlaces() async throws {
        #expect(try await check { Places(count: 4, clock: $0, losesPlace: false, interval: 5) }.messages == [])
    }

    @Test("asks no more of a provider of which a later request doesn't end after many were cancelled")
    func silentAfterMany() async throws {
        let found = try await check { Places(count: 11, clock: $0, losesPlace: true) }
        // Twice the time of a request for each of the two looks; it was three times that for each.
        #expect(found.waited < .seconds(60), "\(found.waited)")
    }

    private var later: String { "expected the cancel of a request to leave a later one alone" }
}

/// Answers after some time. Once a request was cancelled, it fails each new one, or never answers it.
private final class Poisoned: DataProvider {
    private let isPoisoned = Watched(false)
    private let clock: ManualClock
    private let isSilent: Bool

    init(clock: ManualClock, isSilent: Bool) {
        self.clock = clock
        self.isSilent = isSilent
    }

    func request(_ input: Int) async throws -> Int {
        if isPoisoned.value {
            guard isSilent else { throw Trouble.first }
            try await Watched(false).wait { $0 }
        }
        do {
            try await clock.sleep(for: .seconds(1))
        } catch {
            isPoisoned.change { $0 = true }
            throw error
        }
        return input
    }
}

/// Turns down whoever comes while it has work.
private final class Busy: DataProvider {
    private let isBusy = Watched(false)
    private let clock: ManualClock
    private let forgetsCancel: Bool

    init(clock: ManualClock, forgetsCancel: Bool) {
        self.clock = clock
        self.forgetsCancel = forgetsCancel
    }

    func request(_ input: Int) async throws -> Int {
        let wasBusy = isBusy.change { isBusy in
            defer { isBusy = true }
            return isBusy
        }
        if wasBusy { throw Trouble.first }
        do {
            try await clock.sleep(for: .seconds(1))
        } catch {
            if !forgetsCancel { isBusy.change { $0 = false } }
            throw error
        }
        isBusy.change { $0 = false }
        return input
    }
}

/// Remembers how the first request for each input has ended.
private final class Remembering: DataProvider {
    private let results = Watched<[Int: Result<Int, any Error>]>([:])
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        if let known = results.value[input] { return try known.get() }
        do {
            try await clock.sleep(for: .seconds(1))
            results.change { $0[input] = .success(input) }
            return input
        } catch {
            results.change { $0[input] = .failure(Trouble.first) }
            throw error
        }
    }
}

/// Answers come over lines, a second after they were asked for, and each line is one request's at a time.
private final class Lines: DataProvider {
    private struct Line {
        var answers: [Int] = []
        var isHeard = false
    }

    private let free = Watched<[Watched<Line>]>([])
    private let clock: ManualClock
    private let keepsAnswers: Bool?

    /// - Parameter keepsAnswers: Whether a line that a cancelled request gives back keeps what comes when nobody
    ///   listens. Nil, if it isn't given back.
    init(clock: ManualClock, keepsAnswers: Bool?) {
        self.clock = clock
        self.keepsAnswers = keepsAnswers
    }

    func request(_ input: Int) async throws -> Int {
        let (clock, keepsAnswers) = (clock, keepsAnswers)
        let line = free.change { $0.popLast() } ?? Watched(Line())
        line.change { $0.isHeard = true }
        LibraryTask.start(clock: clock, isolation: nil) { _ in
            try? await clock.sleep(for: .seconds(1))
            line.change { line in
                if line.isHeard || keepsAnswers == true { line.answers.append(input) }
            }
        }
        do {
            try await line.wait { !$0.answers.isEmpty }
        } catch {
            line.change { $0.isHeard = false }
            if keepsAnswers != nil { free.change { $0.append(line) } }
            throw error
        }
        let answer = line.change { line in
            line.isHeard = false
            return line.answers.removeFirst()
        }
        free.change { $0.append(line) }
        return answer
    }
}

/// Has room for some requests at once. The others wait. With eleven there is room for one when ten of twenty are
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

/// Turns down whoever comes within half a second of another.
private final class Limiting: DataProvider {
    private let last = Watched<ManualClock.Instant?>(nil)
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let now = clock.now
        let isEarly = last.change { last in
            if let time = last, time.duration(to: now) < .milliseconds(500) { return true }
            last = now
            return false
        }
        if isEarly { throw Trouble.first }
        try await clock.sleep(for: .seconds(1))
        return input
    }
}

/// Answers after a second, or just before it would be cancelled. Others aren't let in after a cancel, or it is deaf.
private final class Late: DataProvider {
    private let isCancelled = Watched(false)
    private let clock: ManualClock
    private let isLate: Bool
    private let isDeaf: Bool

    init(clock: ManualClock, isLate: Bool, isDeaf: Bool) {
        self.clock = clock
        self.isLate = isLate
        self.isDeaf = isDeaf
    }

    func request(_ input: Int) async throws -> Int {
        if isCancelled.value { throw Trouble.first }
        guard !isLate else {
            try await clock.sleep(for: .milliseconds(10))
            return input
        }
        let clock = clock
        let duration = Duration.seconds(isDeaf ? 100 : 1)
        let work = Task(executorPreference: clock.workload) { try await clock.sleep(for: duration) }
        try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            guard !isDeaf else { return }
            isCancelled.change { $0 = true }
            work.cancel()
        }
        return input
    }
}
