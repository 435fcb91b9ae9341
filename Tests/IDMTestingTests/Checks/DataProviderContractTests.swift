import IDMCore
import IDMTesting
import TestSupport
import Testing

/// The battery, with a clock that goes on when everything is at rest: what doesn't come then doesn't come.
@Suite("The contract of providers", .timeLimit(.ample))
struct DataProviderContractTests {
    struct Finding {
        let rules: Set<DataProviderContract.Rule>
        let messages: [String]
        /// How long somebody was waited for.
        let waited: Duration
    }

    func check<P: DataProvider<Int, Int>>(
        rules: Set<DataProviderContract.Rule> = Set(DataProviderContract.Rule.allCases),
        _ make: @escaping @Sendable (ManualClock) -> P
    ) async throws -> Finding {
        try await find { clock in
            try await DataProviderContract.check(input: 1, patience: .init(clock: clock), rules: rules) { make(clock) }
        }
    }

    /// With input 1 and one, two or three others.
    func check<P: DataProvider<Int, Int>>(
        inputs second: Int, _ third: Int? = nil, _ fourth: Int? = nil,
        rules: Set<DataProviderContract.Rule> = Set(DataProviderContract.Rule.allCases),
        _ make: @escaping @Sendable (ManualClock) -> P
    ) async throws -> Finding {
        try await find { clock in
            let patience = DataProviderContract.Patience(clock: clock)
            let make = { @Sendable in make(clock) }
            return switch (third, fourth) {
            case (let third?, let fourth?):
                try await DataProviderContract.check(
                    inputs: 1, second, third, fourth, patience: patience, rules: rules, make)
            case (let third?, nil):
                try await DataProviderContract.check(inputs: 1, second, third, patience: patience, rules: rules, make)
            case (nil, _):
                try await DataProviderContract.check(inputs: 1, second, patience: patience, rules: rules, make)
            }
        }
    }

    private func find(
        _ check: @escaping @Sendable (ManualClock) async throws -> [DataProviderContract.Breach]
    ) async throws -> Finding {
        let (breaches, waited) = (Watched<[DataProviderContract.Breach]??>(nil), Watched(Duration.zero))
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let clock = ManualClock()
            LibraryTask.start(clock: clock, isolation: nil) { _ in
                let found = try? await check(clock)
                breaches.change { $0 = .some(found) }
                waited.change { $0 = clock.now.offset }
            }
            await clock.run()
            try await breaches.wait { $0 != nil }
        }
        // Nil, if the check threw: that finds nothing, and is not to be taken for a provider that keeps the contract.
        let found = try #require(breaches.value ?? nil)
        #expect(failures.count == found.count)
        for breach in found { #expect(failures.contains { $0.message.hasSuffix("\(breach)") }) }
        return Finding(rules: Set(found.map(\.rule)), messages: found.map(\.message), waited: waited.value)
    }

    func broken<P: DataProvider<Int, Int>>(
        _ make: @escaping @Sendable (ManualClock) -> P
    ) async throws -> Set<DataProviderContract.Rule> {
        try await check(make).rules
    }

    var spared: String { "expected the cancel of some of 20 requests to leave the others alone, and" }

    // MARK: Who keeps it

    @Test("is kept by the providers of the library, which nobody has to wait for")
    func library() async throws {
        func expectGood<P: DataProvider<Int, Int>>(_ make: @escaping @Sendable (ManualClock) -> P) async throws {
            let found = try await check(make)
            #expect(found.messages == [], "\(P.self)")
            // An actor is held for a moment after its work, by the thread that ran it. So one look more may be taken.
            #expect(found.waited <= (P.self is any Actor.Type ? .milliseconds(2) : .zero), "\(P.self)")
            guard P.self is any Actor.Type else { return }
            let others = Set(DataProviderContract.Rule.allCases).subtracting([.isReleased])
            #expect(try await check(rules: others, make).waited == .zero, "\(P.self)")
        }
        try await expectGood { _ in Echo<Int>() }
        try await expectGood { _ in ValueDataProvider<Int, Int>(1) }
        try await expectGood { _ in ClosureDataProvider { (input: Int) in input } }
        try await expectGood { clock in Echo<Int>().timeout(.seconds(5), clock: clock).retry(2, clock: clock) }
        try await expectGood { _ in Integrator(Echo<Int>()) }
        try await expectGood { _ in Integrator(Echo<Int>(), executing: .queue) }
        try await expectGood { _ in Integrator(Echo<Int>(), executing: .latest) }
        try await expectGood { _ in Integrator(Echo<Int>(), executing: .only(joining: true)) }
        try await expectGood { _ in Echo<Int>().coalesced(by: { $0 }) }
        try await expectGood { _ in Calling(.once) }
        try await expectGood { _ in Echo<Int>() >>>> Echo<Int>() }
        try await expectGood { _ in Teller() }
        try await expectGood { _ in SpyDataProvider(Echo<Int>()) }
        try await expectGood { _ in StubDataProvider<Int, Int>(failing: Trouble.first) }
    }

    @Test("is kept by providers that take their time, also under every executing type")
    func patient() async throws {
        for (found, most) in [(try await check { _ in Live() }, 11), (try await check(inputs: 2) { _ in Live() }, 15)] {
            #expect(found.messages == [])
            // The time of a cancel, once alone, and among many four times or six.
            #expect(.seconds(most - 1)..<(.seconds(most)) ~= found.waited, "\(found.waited)")
        }
        #expect(try await broken { Echo<Int>().delay(.seconds(3), clock: $0) } == [])
        #expect(try await broken { Calling(.later(.seconds(1)), $0) } == [])
        #expect(try await broken { Calling(.hearing(.seconds(1)), $0) } == [])
        for type in [ExecutingType.default, .only, .only(joining: true), .queue(width: 7), .latest] {
            #expect(
                try await broken { Integrator(Echo<Int>().delay(.seconds(1), clock: $0), executing: type, clock: $0) }
                    == [], "\(type)")
        }
    }

    // MARK: Who breaks it

    @Test("is broken by a provider that never answers")
    func silent() async throws {
        let found = try await check { _ in ControlledDataProvider<Int, Int>() }
        #expect(found.rules == [.answersOnce])
        #expect(found.messages == ["expected an answer within 10.0 seconds, and none came."])
    }

    @Test("is broken by a provider that answers too late")
    func slow() async throws {
        #expect(try await broken { Echo<Int>().delay(.seconds(11), clock: $0) } == [.answersOnce])
    }

    @Test("is broken by a provider that ends as cancelled though nobody cancelled it")
    func cancelsItself() async throws {
        let found = try await broken { _ in ClosureDataProvider<Int, Int> { _ in throw CancellationError() } }
        #expect(found == [.answersOnce])
    }

    @Test("is broken by a provider that doesn't hear a cancel")
    func deaf() async throws {
        let found = try await broken { _ in ControlledDataProvider<Int, Int>(hearsCancel: false) }
        // No use of it ends, so it can't be known whether it is released.
        #expect(found == [.answersOnce, .hearsCancel, .isReleased])
    }

    @Test("is broken by a provider that hears a cancel too late")
    func slowToHear() async throws {
        let found = try await broken { clock in Deaf(duration: .seconds(3), clock: clock) }
        #expect(found == [.hearsCancel])
    }

    @Test("is broken by a provider that answers after its cancel")
    func answersAfterCancel() async throws {
        let found = try await broken { clock in Deaf(duration: .seconds(1), clock: clock) }
        #expect(found == [.answersNothingAfterCancel])
    }

    @Test("is broken by a stream that goes on after its cancel, or that delivers more values")
    func streams() async throws {
        let deaf = try await check { _ in Live(end: .never) }
        #expect(deaf.rules == [.hearsCancel])
        // Once the time of a request. The rest are cancels, and their moments.
        #expect(deaf.waited < .seconds(40), "\(deaf.waited)")
        #expect(try await broken { _ in Live(end: .withValues) } == [.answersNothingAfterCancel])
    }

    @Test("is broken by a callback provider that calls back twice, at once or later, or never")
    func callbacks() async throws {
        #expect(try await broken { Calling(.twice, $0) } == [.answersOnce])
        #expect(try await broken { Calling(.onceMore(.seconds(1)), $0) } == [.answersOnce])
        let never = try await check { Calling(.never, $0) }
        #expect(never.rules == [.answersOnce])
        #expect(never.messages == ["expected one callback for a request, and none came."])
    }

    @Test("is broken by a callback provider whose cancel handler does nothing, or calls back as well")
    func cancelHandlers() async throws {
        #expect(try await broken { Calling(.deaf(.seconds(1)), $0) } == [.answersNothingAfterCancel])
        #expect(try await broken { Calling(.deaf(.seconds(3)), $0) } == [.hearsCancel])
        #expect(try await broken { Calling(.failingAndAnswering(.seconds(1)), $0) } == [.answersOnce])
    }

    @Test("is broken by a provider that lets only one request through")
    func exclusive() async throws {
        #expect(try await broken { _ in Exclusive() } == [.takesConcurrentRequests])
    }

    @Test("is broken by a provider whose requests cancel each other")
    func meddling() async throws {
        let found = try await check { Meddling(clock: $0) }
        #expect(found.rules == [.takesConcurrentRequests])
        #expect(found.messages.first?.contains("to leave the others alone, and ") == true)
    }

    @Test("is broken by a provider that is held after use, or only after a cancel")
    func held() async throws {
        let kept = Watched<[Clinging]>([])
        #expect(try await broken { _ in Clinging(kept) } == [.isReleased])
        #expect(try await broken { Clinging(kept, onCancelUntil: $0) } == [.isReleased])
    }

    @Test("is kept by a provider that is let go soon after")
    func heldForAMoment() async throws {
        #expect(try await broken { Lingering(clock: $0) } == [])
    }

    @Test("looks only at the rules that it is given, and points at the line of the check")
    func place() async throws {
        let line = #line + 3
        let failures = try await TestScope.failures {
            let patience = DataProviderContract.Patience(request: .zero)
            try await DataProviderContract.check(input: 1, patience: patience, rules: [.answersOnce]) {
                ControlledDataProvider<Int, Int>()
            }
            try await DataProviderContract.check(inputs: 1, 2, patience: patience, rules: [.answersOnce]) {
                ControlledDataProvider<Int, Int>()
            }
        }
        #expect(failures.map(\.place.line) == [line, line + 3])
        for failure in failures {
            #expect(failure.summary.contains(": ControlledDataProvider<Int, Int> breaks the contract"))
        }
    }

    @Test("fails if it is given no rule to look at")
    func noRules() async throws {
        let line = #line + 2
        let failures = try await TestScope.failures {
            let found = try await DataProviderContract.check(input: 1, rules: []) { Echo<Int>() }
            #expect(found == [])
        }
        #expect(failures.map(\.summary) == ["\(line): Expected a rule at least, and none came."])
    }

    @Test("waits no longer when the task of the check is cancelled")
    func cancelled() async throws {
        let asked = Watched(false)
        let checking = Task {
            try await DataProviderContract.check(input: 1, patience: .init(clock: ManualClock())) {
                asked.change { $0 = true }
                return ControlledDataProvider<Int, Int>()
            }
        }
        try await asked.wait { $0 }
        checking.cancel()
        await #expect(throws: CancellationError.self) { try await checking.value }
    }
}

private actor Teller: DataProvider {
    private var last = 0

    func request(_ input: Int) async throws -> Int {
        last = input
        return last
    }
}

/// Answers after some time, whatever happens.
struct Deaf: DataProvider {
    let duration: Duration
    let clock: ManualClock

    func request(_ input: Int) async throws -> Int {
        let isOver = Watched(false)
        LibraryTask.start(clock: clock, isolation: nil) { [clock, duration] _ in
            try? await clock.sleep(for: duration)
            isOver.change { $0 = true }
        }
        try? await isOver.wait(deaf: true) { $0 }
        return input
    }
}

/// A stream that ends only with a cancel, or not even then.
private struct Live: StreamDataProvider {
    enum End { case atOnce, withValues, never }

    var end = End.atOnce

    func values(for input: Int) -> Values { Values(input: input, end: end) }

    struct Values: AsyncSequence, AsyncIteratorProtocol {
        let input: Int
        let end: End
        var count = 0

        func makeAsyncIterator() -> Values { self }

        mutating func next() async throws -> Int? { try await next(isolation: #isolation) }

        mutating func next(isolation: isolated (any Actor)?) async throws -> Int? {
            count += 1
            guard count > 1 else { return input }
            do {
                try await Watched(false).wait(deaf: end == .never) { $0 }
            } catch  where end == .withValues && count <= 3 {
                return input
            }
            return nil
        }
    }
}

private final class Exclusive: DataProvider {
    private let count = Watched(0)

    func request(_ input: Int) async throws -> Int {
        let place = count.countOne()
        if place > 1 { try await Watched(false).wait { $0 } }
        return input
    }
}

/// Keeps the tasks of all. Whoever is cancelled cancels them, and those that come later.
private final class Meddling: DataProvider {
    private let all = Watched((tasks: [Task<Int, any Error>](), isCancelled: false))
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        let task = clock.secondOfWork(with: input)
        let isCancelled = all.change { all in
            all.tasks.append(task)
            return all.isCancelled
        }
        if isCancelled { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.valueHearingCancel
        } onCancel: {
            let tasks = all.change { all in
                all.isCancelled = true
                return all.tasks
            }
            for task in tasks { task.cancel() }
        }
    }
}

private final class Clinging: DataProvider {
    private let kept: Watched<[Clinging]>
    private let clock: ManualClock?

    /// - Parameter clock: If there is one it answers after some time, and is held only after a cancel.
    init(_ kept: Watched<[Clinging]>, onCancelUntil clock: ManualClock? = nil) {
        self.kept = kept
        self.clock = clock
    }

    func request(_ input: Int) async throws -> Int {
        do {
            try await clock?.sleep(for: .seconds(1))
        } catch {
            kept.change { $0.append(self) }
            throw error
        }
        if clock == nil { kept.change { $0.append(self) } }
        return input
    }
}

/// Holds itself until a while after its answer.
private final class Lingering: DataProvider {
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func request(_ input: Int) async throws -> Int {
        LibraryTask.start(clock: clock, isolation: nil) { _ in
            try? await self.clock.sleep(for: .milliseconds(500))
        }
        return input
    }
}
