import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("An exploration", .timeLimit(.ample))
struct ExploreTests {
    @Test("tries every seed while all pass")
    func passes() async throws {
        let seen = Log()
        try await explore(seeds: 0..<20) { _ in seen.add("") }
        #expect(seen.entries.count == 20)
    }

    private actor Counter {
        private(set) var value = 0

        func set(_ value: Int) { self.value = value }
    }

    @Test("finds a race, and tells the seed, with which it fails again")
    func findsRace() async throws {
        let line = #line + 2
        func search(_ seeds: [Int]) async throws {
            try await explore(seeds: seeds) { _ in
                let counter = Counter()
                await withTaskGroup { group in
                    // Loses what somebody else adds between the two steps.
                    for _ in 0..<3 { group.addTask { await counter.set(counter.value + 1) } }
                }
                guard await counter.value == 3 else { throw Trouble.first }
            }
        }
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) { try await search(Array(0..<200)) })
        #expect(failure.error is TestFailures == false)
        #expect(failure.error as? Trouble == .first)
        #expect(failure.place.line == line)
        #expect(failure.description.contains("seed \(failure.seed) failed: first"))
        for _ in 0..<20 {
            let again = await #expect(throws: ExplorationFailure.self) { try await search([failure.seed]) }
            #expect(again?.seed == failure.seed)
        }
    }

    @Test("gives the same order for the same seed, and others for others")
    func repeatable() async throws {
        func order(_ seed: Int) async throws -> [String] {
            let log = Log()
            try await explore(seeds: [seed]) { executor in
                let integrator = Integrator(Echo<Int>() >>>> Echo<Int>(), executing: .queue(width: 3))
                let tasks = (0..<4).map { index in
                    Task(executorPreference: executor) {
                        integrator.prepareCall(index).onSuccess { log.add("\($0)") }.call()
                    }
                }
                for task in tasks { await task.value.finish() }
            }
            return log.entries
        }
        var orders: Set<[String]> = []
        for seed in 0..<30 {
            let first = try await order(seed)
            #expect(first.count == 4)
            for _ in 0..<5 { #expect(try await order(seed) == first) }
            orders.insert(first)
        }
        #expect(orders.count > 5)
    }

    private actor Clerk {
        func fetch(_ integrator: Integrator<Int, Int>, _ input: Int) async throws -> Int {
            try await integrator.request(input)
        }
    }

    private struct Stepping: DataProvider {
        let log: Log

        @concurrent
        func request(_ input: Int) async throws -> Int {
            for step in 0..<3 { log.add("\(input).\(try await next(step))") }
            return input
        }

        @concurrent
        private func next(_ step: Int) async throws -> Int { try await Echo<Int>().request(step) }
    }

    @Test("orders what actors ask for, without patience", arguments: 0..<20)
    func callsOfActors(seed: Int) async throws {
        func order() async throws -> [String] {
            let log = Log()
            try await explore(seeds: [seed], patience: .zero) { _ in
                let integrator = Integrator(Stepping(log: log))
                try await withThrowingTaskGroup { group in
                    for input in 1...3 { group.addTask { _ = try await Clerk().fetch(integrator, input) } }
                    try await group.waitForAll()
                }
            }
            return log.entries
        }
        let first = try await order()
        #expect(first.count == 9)
        for _ in 0..<10 { #expect(try await order() == first) }
    }

    /// What waits for one thing, and is let go on with it.
    enum Crowd: CaseIterable {
        case outcome, pause, lanes

        func run(_ executor: DeterministicExecutor, _ log: Log) async throws {
            let (provider, control) = (ControlledDataProvider<Int, Int>(), PauseControl())
            let integrator = Integrator(provider, lane: { self == .lanes ? $0 : 0 })
            let running = integrator.prepareCall(0).call()
            let request = try await provider.nextRequest()
            control.pause()
            let tasks = (1...8).map { number in
                Task(executorPreference: executor) {
                    switch self {
                    case .outcome: _ = await running.outcome
                    case .pause: try await control.waitWhilePaused()
                    case .lanes: _ = await integrator.prepareCall(number).call().outcome
                    }
                    log.add("\(number)")
                }
            }
            if self == .lanes { for _ in tasks { _ = try await provider.nextRequest() } }
            // At any time: some wait by then, and in most runs several do.
            let opener = Task(executorPreference: executor) {
                control.resume()
                if self == .lanes { integrator.cancel() } else { request.answer(0) }
            }
            for task in tasks { try await task.value }
            await opener.value
        }
    }

    @Test("gives the same order for the same seed where many wait for one thing", arguments: Crowd.allCases)
    func repeatableCrowd(crowd: Crowd) async throws {
        for seed in 0..<20 {
            var orders: Set<[String]> = []
            for _ in 0..<6 {
                let log = Log()
                try await explore(seeds: [seed]) { executor in try await crowd.run(executor, log) }
                #expect(log.entries.count == 8)
                orders.insert(log.entries)
            }
            #expect(orders.count == 1)
        }
    }

    @Test("fails for what the kit finds wrong in a run")
    func kitFailures() async throws {
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: 5...9) { _ in _ = StubDataProvider<Int, Int>(1) }
        }
        #expect(failure?.seed == 5)
        #expect(failure?.error is TestFailures)
    }

    @Test("fails for what outlives a run, and doesn't take that for a run that hangs")
    func leak() async throws {
        final class Screen: Sendable {}
        let kept = Watched<[Screen]>([])
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { _ in
                let screen = LeakTracker().track(Screen())
                kept.change { $0.append(screen) }
            }
        }
        let found = try #require(failure?.error as? TestFailures)
        #expect(found.failures.map(\.message) == ["Expected Screen to be released, and something still holds it."])
        #expect(found.error == nil)
    }

    @Test("fails without a seed")
    func noSeed() async throws {
        let line = #line + 1
        let failure = await #expect(throws: TestFailure.self) { try await explore(seeds: []) { _ in } }
        #expect(failure?.summary == "\(line): Expected a seed at least, and none came.")
    }

    @Test("goes with a manual clock")
    func clock() async throws {
        // Nobody else has a part in it, so nothing has to be waited for.
        try await explore(seeds: 0..<50, patience: .zero) { _ in
            let (clock, log) = (ManualClock(), Log())
            let search = Integrator(Echo<Int>(), executing: .latest(debounce: .seconds(1)), clock: clock)
            for index in 0..<3 { search.prepareCall(index).onSuccess { log.add("\($0)") }.call() }
            await clock.advance(by: .milliseconds(999))
            try #require(log.entries == [])
            await clock.advance(by: .milliseconds(1))
            try #require(log.entries == ["2"])
        }
    }

    @Test("finds what comes between on the way to another actor, and goes to no actor and back in one step")
    func steps() async throws {
        let deposits = { (isToActor: Bool) in
            try await explore(seeds: 0..<100) { _ in
                let account = Account()
                async let first: Void = account.deposit(1, askingActor: isToActor)
                async let second: Void = account.deposit(1, askingActor: isToActor)
                _ = await (first, second)
                guard await account.balance == 2 else { throw Trouble.first }
            }
        }
        await #expect(throws: ExplorationFailure.self) { try await deposits(true) }
        try await deposits(false)
    }

    private actor Account {
        private let bank = Bank()
        private(set) var balance = 0

        func deposit(_ amount: Int, askingActor isToActor: Bool) async {
            let before = balance
            if isToActor { await bank.allow() } else { await allow() }
            balance = before + amount
        }

        @concurrent
        private nonisolated func allow() async {}
    }

    private actor Bank {
        func allow() {}
    }

    @Test("keeps a call on the actor on which it was made, also when it starts later")
    func isolation() async throws {
        try await explore(seeds: 0..<20) { _ in try await Desk().check() }
    }

    private actor Desk {
        func check() async throws {
            let seen = Watched<[Bool]>([])
            let probe = ClosureProbe { isHere in seen.change { $0.append(isHere) } }
            // Made from a handler, the second call starts in a later turn.
            let (first, second) = (Integrator(probe), Integrator(probe))
            let task = first.prepareCall(self).onSuccess { _ in
                second.prepareCall(self).onCompletion { seen.change { $0.append(true) } }.call()
            }.call()
            await task.finish()
            try await seen.wait { $0.count == 3 }
            try #require(seen.value == [true, true, true])
        }
    }

    private struct ClosureProbe: DataProvider {
        let seen: @Sendable (Bool) -> Void

        init(_ seen: @escaping @Sendable (Bool) -> Void) { self.seen = seen }

        func request(_ input: Desk) async throws -> Int {
            seen(#isolation === input)
            return 1
        }
    }

    @Test("fails with the seed when nothing can run any more, and again with that seed")
    func deadlock() async throws {
        // Whoever takes the second lock first waits for the other one, who waits for the first.
        func search(_ seeds: some Sequence<Int>) async throws {
            try await explore(seeds: seeds, patience: .zero) { _ in
                let (left, right) = (Watched(false), Watched(false))
                @Sendable func take(_ first: Watched<Bool>, _ second: Watched<Bool>) async throws {
                    for lock in [first, second] {
                        while !lock.change({ isTaken in
                            defer { isTaken = true }
                            return !isTaken
                        }) {
                            try await lock.wait { !$0 }
                        }
                        await withTaskGroup(of: Void.self) { group in group.addTask {} }
                    }
                    for lock in [second, first] { lock.change { $0 = false } }
                }
                async let one: Void = take(left, right)
                async let other: Void = take(right, left)
                _ = try await (one, other)
            }
        }
        let failure = try #require(await #expect(throws: ExplorationFailure.self) { try await search(0..<200) })
        #expect(failure.description.contains("seed \(failure.seed) failed: the body had not ended, and for 0"))
        for _ in 0..<5 {
            let again = await #expect(throws: ExplorationFailure.self) { try await search([failure.seed]) }
            #expect(again?.seed == failure.seed)
        }
    }

    @Test("waits for somebody outside for as long as it is told, and no longer")
    func patience() async throws {
        let (clock, gate, hasBegun) = (ManualClock(), Watched(false), Watched(false))
        let patient = Task {
            try await explore(seeds: [1], patience: .seconds(3), clock: clock) { _ in
                hasBegun.change { $0 = true }
                try await gate.wait { $0 }
            }
        }
        try await hasBegun.wait { $0 }
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(2))
        gate.change { $0 = true }
        try await patient.value
        let impatient = Task {
            try await explore(seeds: [1], patience: .seconds(3), clock: clock) { _ in
                try await Watched(false).wait { $0 }
            }
        }
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(3))
        await #expect(throws: ExplorationFailure.self) { try await impatient.value }
    }

    @Test("has all the time that a rest takes which the body waits for")
    func rest() async throws {
        let (clock, busy) = (ManualClock(), Watched<(any WorkWatch)?>(nil))
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await explore(seeds: [1], patience: .seconds(3), clock: clock) { _ in
                    let own = ManualClock()
                    own.workload.workDeparts()
                    busy.change { $0 = own.workload }
                    await own.rest()
                }
            }
            group.addTask {
                try await busy.wait { $0 != nil }
                // Each time its patience would be over.
                for _ in 0..<3 {
                    try await clock.sleepers(1)
                    await clock.advance(by: .seconds(3))
                }
                busy.value?.workArrived()
            }
            while try await group.next() != nil {}
        }
    }

    @Test("stops between two runs when its task is cancelled")
    func cancelled() async throws {
        let (own, runs, isKnown) = (Watched<Task<Void, any Error>?>(nil), Watched(0), Signal())
        let task = Task {
            await isKnown.waitDeaf()
            try await explore(seeds: 0..<Int.max) { _ in
                // There is nothing that it could cut short: the run ends as if there were none.
                if runs.countOne() == 2 { own.value?.cancel() }
            }
        }
        own.change { $0 = task }
        isKnown.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(runs.value == 2)
    }

    @Test("tells the seed of a run that a cancel cuts short, with all that was wrong in it", arguments: [false, true])
    func cancelledRun(isWrong: Bool) async throws {
        let hasBegun = Signal()
        let task = Task {
            // The time of this clock stands still, so the patience lasts.
            try await explore(seeds: [4], clock: ManualClock()) { _ in
                if isWrong { _ = try? await StubDataProvider<Int, Int>.unexpected().request(1) }
                hasBegun.open()
                try await Signal().wait()
            }
        }
        try await hasBegun.wait()
        task.cancel()
        let failure = try #require(await #expect(throws: ExplorationFailure.self) { try await task.value })
        #expect(failure.seed == 4)
        let found = failure.error as? TestFailures
        #expect(found?.failures.count == (isWrong ? 1 : nil))
        #expect((found?.error ?? failure.error) is CancellationError)
    }
}
