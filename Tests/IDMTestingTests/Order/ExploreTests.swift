import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("An exploration", .timeLimit(.ample))
struct ExploreTests {
    private typealias Failing = @Sendable (_ seeds: [Int]) async throws -> Void

    /// Returns the failure, after it has shown that its seed fails again each time.
    private func repeatedFailure(_ search: Failing) async throws -> ExplorationFailure {
        let failure = try #require(await #expect(throws: ExplorationFailure.self) { try await search(Array(0..<200)) })
        for _ in 0..<5 {
            let again = await #expect(throws: ExplorationFailure.self) { try await search([failure.seed]) }
            #expect(again?.seed == failure.seed)
        }
        return failure
    }

    @Test("An exploration without a failure tries every seed")
    func passes() async throws {
        let seen = Log()
        try await explore(seeds: 0..<20) { _ in seen.add("") }

        #expect(seen.entries.count == 20)
    }

    private actor Counter {
        private(set) var value = 0

        func set(_ value: Int) { self.value = value }
    }

    @Test("A race fails with its seed and line, and again with that seed")
    func race() async throws {
        let line = #line + 2
        let failure = try await repeatedFailure { seeds in
            try await explore(seeds: seeds) { _ in
                let counter = Counter()
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { await counter.set(counter.value + 1) } }
                }
                guard await counter.value == 3 else { throw Trouble.first }
            }
        }

        #expect(failure.error as? Trouble == .first && failure.place.line == line)
        #expect(failure.description.contains("seed \(failure.seed) failed: first"))
    }

    @Test("A deadlock fails with its seed, and again with that seed")
    func deadlock() async throws {
        let failure = try await repeatedFailure { seeds in
            try await explore(seeds: seeds, patience: .zero) { _ in
                let (left, right) = (Observed(false), Observed(false))
                @Sendable func take(_ first: Observed<Bool>, _ second: Observed<Bool>) async throws {
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
                async let two: Void = take(right, left)
                _ = try await (one, two)
            }
        }

        #expect(failure.description.contains("seed \(failure.seed) failed: the body had not ended, and for 0"))
    }

    @Test("A seed always gives the same order, and many seeds give many orders")
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
            for _ in 0..<5 { #expect(try await order(seed) == first) }
            orders.insert(first)
        }

        #expect(orders.count > 5)
    }

    /// Tasks that one event resumes.
    enum Crowd: CaseIterable {
        case outcome, pause, lanes

        func run(_ executor: DeterministicExecutor, _ log: Log) async throws {
            let (provider, control) = (ControlledDataProvider<Int, Int>(), PauseControl())
            let integrator = Integrator(provider, lane: { self == .lanes ? $0 : 0 })
            let running = integrator.prepareCall(0).call()
            let request = try await provider.waitForRequest()
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
            if self == .lanes { for _ in tasks { _ = try await provider.waitForRequest() } }
            let opener = Task(executorPreference: executor) {
                control.resume()
                if self == .lanes { integrator.cancel() } else { request.answer(0) }
            }
            for task in tasks { try await task.value }
            await opener.value
            running.cancel()
        }
    }

    @Test("A seed gives the same order to tasks that one event resumes", arguments: Crowd.allCases)
    func repeatableCrowd(crowd: Crowd) async throws {
        for seed in 0..<20 {
            var orders: Set<[String]> = []
            for _ in 0..<4 {
                let log = Log()
                try await explore(seeds: [seed]) { executor in try await crowd.run(executor, log) }
                orders.insert(log.entries)
            }
            #expect(orders.count == 1)
        }
    }

    @Test("The order changes on the way to an actor, and not on the way to none")
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

    @Test("A manual clock rests within an exploration")
    func clock() async throws {
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

    @Test("A failure of the kit fails the run, also if the body hangs")
    func kitFailures() async throws {
        let unused = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: 5...9) { _ in _ = StubDataProvider<Int, Int>(1) }
        }
        let hanging = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [3], patience: .zero) { _ in
                _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
                try await Signal().wait()
            }
        }

        #expect(unused?.seed == 5 && unused?.error is TestFailures)
        let found = try #require(hanging?.error as? TestFailures)
        #expect(found.failures.map(\.message) == ["The stub expected no request, and request 1 came: 1"])
        #expect("\(try #require(found.error))".hasPrefix("the body had not ended, and for 0"))
    }

    @Test("A hanging body fails with the lines of its waits, and is then ignored")
    func waits() async throws {
        let (line, hasAsked) = (#line + 5, Signal())
        // Not in the closure of a macro, whose code has the line of the macro.
        @Sendable func hang() async throws {
            try await explore(seeds: [1], patience: .zero) { _ in
                let (provider, stub) = (ControlledDataProvider<Int, Int>(), StubDataProvider<Int, Int>.unexpected())
                async let first = TestGate().waitForTasks(2)
                _ = try? await provider.waitForRequest()
                _ = try? await stub.request(1)
                hasAsked.open()
                try await first
            }
        }
        let failure = await #expect(throws: ExplorationFailure.self) { try await hang() }
        let found = try #require(failure?.error as? TestFailures)

        #expect(
            Set(found.failures.map(\.message)) == [
                "Expected 2 tasks to wait at the gate, and none did until nothing was left that could run.",
                "Expected 1 request, and none came until nothing was left that could run.",
            ])
        #expect(Set(found.failures.map { $0.place.line - line }) == [0, 1])
        try await hasAsked.wait()
    }

    @Test("A body that ignores its cancel is left behind")
    func deafBody() async throws {
        let gate = Observed(false)
        await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { _ in try await gate.wait(ignoringCancel: true) { $0 } }
        }

        gate.change { $0 = true }
    }

    @Test("Work outside of the order has as long as the patience says")
    func patience() async throws {
        let (hasBegun, gate) = (Signal(), Signal())
        let exploring = Task {
            try await explore(seeds: [1], patience: .seconds(600)) { _ in
                hasBegun.open()
                try await gate.wait()
            }
        }
        try await hasBegun.wait()
        gate.open()

        try await exploring.value
    }

    /// Lets other tasks of the order run.
    private static func giveTurns() async {
        await withTaskGroup(of: Void.self) { group in group.addTask {} }
    }

    @Test("Tasks that a body leaves behind end within the order")
    func leftBehind() async throws {
        for seed in 0..<20 {
            let log = Log()
            try await explore(seeds: [seed], patience: .zero) { executor in
                for number in 0..<3 {
                    Task(executorPreference: executor) {
                        await Self.giveTurns()
                        log.add("\(number)")
                    }
                }
            }
            #expect(log.count == 3)
        }
    }

    @Test("Tasks that a failing body leaves behind aren't waited for")
    func leftByAThrow() async throws {
        let (isMeantToEnd, isOver) = (Observed(false), Signal())
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { executor in
                Task(executorPreference: executor) {
                    while !isMeantToEnd.value { await Self.giveTurns() }
                    isOver.open()
                }
                await Self.giveTurns()
                throw Trouble.first
            }
        }

        #expect(failure?.error as? Trouble == .first)
        isMeantToEnd.change { $0 = true }
        try await isOver.wait()
    }

    /// Bodies that don't end before they are cancelled.
    enum Endless: CaseIterable {
        case body, deafBody, leftTask

        func run(_ executor: DeterministicExecutor, _ hasBegun: Signal, _ end: Signal) async throws {
            hasBegun.open()
            switch self {
            case .body: try await end.wait()
            case .deafBody: await end.waitIgnoringCancel()
            case .leftTask:
                Task(executorPreference: executor) { while !end.isOpen { await ExploreTests.giveTurns() } }
            }
        }
    }

    @Test("A cancelled exploration throws CancellationError, whatever its body does", arguments: Endless.allCases)
    func cancelled(endless: Endless) async throws {
        let (hasBegun, end) = (Signal(), Signal())
        let exploring = Task {
            try await explore(seeds: 0..<Int.max, patience: .seconds(600)) { executor in
                try await endless.run(executor, hasBegun, end)
            }
        }
        try await hasBegun.wait()
        exploring.cancel()

        await #expect(throws: CancellationError.self) { try await exploring.value }
        end.open()
    }

    @Test("An exploration without a seed fails")
    func noSeed() async throws {
        let line = #line + 1
        let failure = await #expect(throws: TestFailure.self) { try await explore(seeds: []) { _ in } }

        #expect(failure?.summary == "\(line): Expected at least one seed, and none came.")
    }
}
