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

    @Test("is broken by a provider of which newcomers join work that is just being cancelled")
    func dying() async throws {
        let found = try await check { Dying(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(found.messages == ["\(later), and it ended as cancelled."])
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
        // That every third fails is no reason for it.
        let found = try await check(inputs: 2) { Lines(clock: $0, keepsAnswers: true, interval: 3) }
        #expect(found.messages == ["\(later), and it got the answer to another input."])
        #expect(try await check(inputs: 2) { Lines(clock: $0, keepsAnswers: nil, interval: 3) }.rules == [])
        #expect(try await check(inputs: 2) { Lines(clock: $0, keepsAnswers: nil) }.rules == [])
    }

    @Test("is kept by a provider that lets nobody in for a while after each request")
    func limiting() async throws {
        #expect(try await broken { Limiting(clock: $0) } == [])
    }

    @Test("looks once more where a request ends before its cancel, as it does where a timer is late")
    func lateTimer() async throws {
        let expected: [(DataProviderContract.Rule, late: Int, message: String)] = [
            (.hearsCancel, 1, "expected the end of a cancelled request within 2.0 seconds, and none came."),
            // After one crowd for each of four ways to cancel.
            (.takesConcurrentRequests, 4 + 1, "\(later), and it failed."),
        ]
        for (rule, late, message) in expected {
            func made(late: Int) async throws -> Int {
                let made = Watched(0)
                let found = try await check(rules: [rule]) { clock in
                    Late(clock: clock, isLate: made.countOne() == late, isDeaf: rule == .hearsCancel)
                }
                #expect(found.messages == [message])
                return made.value
            }
            let inTime = try await made(late: 0)
            #expect(try await made(late: late) == inTime + 1)
        }
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

/// All share one piece of work. The last to be cancelled cancels that, which takes a moment to end.
private final class Dying: DataProvider {
    private typealias Answer = Watched<Result<Int, any Error>?>

    private let state = Watched((answer: Answer?.none, work: Task<Void, Never>?.none, listeners: 0))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let (answer, isFirst) = state.change { state in
            state.listeners += 1
            if let answer = state.answer { return (answer, false) }
            let answer = Answer(nil)
            state.answer = answer
            return (answer, true)
        }
        if isFirst { start(with: input, answering: answer) }
        do {
            try await answer.wait { $0 != nil }
        } catch {
            leave()?.cancel()
            throw error
        }
        _ = leave()
        return try answer.value?.get() ?? 0
    }

    /// Returns the work, if nobody listens to it any more.
    private func leave() -> Task<Void, Never>? {
        state.change { state in
            state.listeners -= 1
            return state.listeners == 0 ? state.work : nil
        }
    }

    private func start(with input: Int, answering answer: Answer) {
        let (state, clock) = (state, clock)
        let work = LibraryTask.start(clock: clock, isolation: nil) { _ in
            let result: Result<Int, any Error>
            do {
                try await clock.sleep(for: .seconds(1))
                result = .success(input)
            } catch {
                _ = try? await Deaf(duration: .milliseconds(30), clock: clock).request(input)
                result = .failure(error)
            }
            state.change { state in (state.answer, state.work) = (nil, nil) }
            answer.change { $0 = result }
        }
        state.change { $0.work = work }
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
    private let state = Watched((open: 0, count: 0))
    private let clock: ManualClock
    private let keepsAnswers: Bool?
    private let interval: Int

    /// - Parameters:
    ///   - keepsAnswers: Whether a line that a cancelled request gives back keeps what comes when nobody listens. Nil,
    ///     if it isn't given back.
    ///   - interval: Of those that come when it is at rest every so many one fails.
    init(clock: ManualClock, keepsAnswers: Bool?, interval: Int = .max) {
        self.clock = clock
        self.keepsAnswers = keepsAnswers
        self.interval = interval
    }

    func request(_ input: Int) async throws -> Int {
        let fails = state.change { [interval] state in
            state.open += 1
            if state.open == 1 { state.count += 1 }
            return state.open == 1 && state.count.isMultiple(of: interval)
        }
        defer { state.change { $0.open -= 1 } }
        if fails { throw Trouble.first }
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
