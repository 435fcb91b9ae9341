import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

/// What becomes of what a body leaves behind.
extension ExploreTests {
    /// Lets others have their turn, three times.
    @Sendable
    private static func giveTurns() async {
        for _ in 0..<3 { await withTaskGroup(of: Void.self) { group in group.addTask {} } }
    }

    @Test("goes on with a call that a body leaves behind, and fails for what goes wrong in it")
    func leftCall() async throws {
        for seed in 0..<100 {
            let kept = Watched<Integrator<Int, Int>?>(nil)
            let failure = await #expect(throws: ExplorationFailure.self) {
                try await explore(seeds: [seed], patience: .zero) { _ in
                    let stub = StubDataProvider<Int, Int>(answers: [.success(1)])
                    let turning = ClosureDataProvider<Int, Int> { input in
                        await Self.giveTurns()
                        return input
                    }
                    let integrator = Integrator(turning >>>> stub)
                    kept.change { $0 = integrator }
                    _ = try await integrator.request(0)
                    integrator.prepareCall(1).call()
                }
            }
            let found = try #require(failure?.error as? TestFailures)
            #expect(failure?.seed == seed)
            let words = "The stub expected no more than 1 request, and request 2 came: 1"
            #expect(found.failures.map(\.message) == [words])
        }
    }

    @Test("orders the tasks that a body leaves behind by the seed, to their end")
    func leftTasks() async throws {
        var orders: Set<[String]> = []
        for seed in 0..<10 {
            var found: Set<[String]> = []
            for _ in 0..<10 {
                let log = Log()
                try await explore(seeds: [seed], patience: .zero) { executor in
                    for number in 0..<4 {
                        Task(executorPreference: executor) {
                            for _ in 0..<3 {
                                log.add("\(number)")
                                await Self.giveTurns()
                            }
                        }
                    }
                }
                found.insert(log.entries)
            }
            #expect(found.count == 1 && found.first?.count == 12)
            orders.formUnion(found)
        }
        #expect(orders.count > 1)
    }

    @Test("doesn't wait for one that waits for somebody outside")
    func leftWaiting() async throws {
        let (gate, isOver) = (TestGate(), Signal())
        try await explore(seeds: [1], patience: .seconds(86_400)) { executor in
            Task(executorPreference: executor) {
                try await gate.pass()
                isOver.open()
            }
            try await gate.waiting(1)
        }
        #expect(!isOver.isOpen)
        gate.open()
        try await isOver.wait()
    }

    @Test("waits for one that waits for a rest of a clock", arguments: [false, true])
    func leftResting(isOnMainActor: Bool) async throws {
        for seed in 0..<50 {
            let log = Log()
            try await explore(seeds: [seed], patience: .zero) { executor in
                let clock = ManualClock()
                if isOnMainActor {
                    let hasBegun = Signal()
                    Task { @MainActor in
                        hasBegun.open()
                        await clock.rest()
                        log.add("rest")
                    }
                    try await hasBegun.wait()
                } else {
                    Task(executorPreference: executor) {
                        await clock.rest()
                        await Self.giveTurns()
                        log.add("rest")
                    }
                }
            }
            if !isOnMainActor { #expect(log.entries == ["rest"]) }
            try await log.contains("rest")
        }
    }

    @Test("leaves what a body leaves behind that throws")
    func leftByAThrow() async throws {
        let (isMeantToEnd, isOver) = (Watched(false), Signal())
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

    @Test("tells of a body that throws only what had failed by then: the rest goes outside, and isn't lost")
    func failedAfterAThrow() async throws {
        await #expect(processExitsWith: .exitCode(50)) {
            let outside = Watched(0)
            TestScope.report { _ in outside.change { $0 += 1 } }
            for seed in 0..<50 {
                let hasAsked = Signal()
                do {
                    try await explore(seeds: [seed], patience: .zero) { executor in
                        let (stub, hasThrown) = (StubDataProvider<Int, Int>(answers: []), Watched(false))
                        Task(executorPreference: executor) {
                            while !hasThrown.value { await Self.giveTurns() }
                            _ = try? await stub.request(1)
                            hasAsked.open()
                        }
                        await Self.giveTurns()
                        hasThrown.change { $0 = true }
                        throw Trouble.first
                    }
                } catch let failure as ExplorationFailure where failure.error as? Trouble == .first {
                    try await hasAsked.wait()
                }
            }
            exit(Int32(outside.value))
        }
    }

    @Test("waits no longer for one that goes on for ever when its task is cancelled, which is a failure")
    func leftForEver() async throws {
        let (isMeantToEnd, isOver, hasBegun) = (Watched(false), Signal(), Signal())
        let exploring = Task {
            try await explore(seeds: [7]) { executor in
                let stub = StubDataProvider<Int, Int>(answers: [])
                Task(executorPreference: executor) {
                    while !isMeantToEnd.value {
                        await Self.giveTurns()
                        hasBegun.open()
                    }
                    // Nobody is told of what is left behind.
                    _ = try? await stub.request(1)
                    isOver.open()
                }
            }
        }
        try await hasBegun.wait()
        exploring.cancel()
        let failure = await #expect(throws: ExplorationFailure.self) { try await exploring.value }
        #expect(failure?.seed == 7 && failure?.error is CancellationError)
        #expect(!isOver.isOpen)
        isMeantToEnd.change { $0 = true }
        try await isOver.wait()
    }

    @Test("takes a run that leaves nothing behind for what it is, also if its task was cancelled before its end")
    func cancelledWithNothingLeft() async throws {
        for seed in 0..<100 {
            let (hasBegun, goesOn) = (Signal(), Signal())
            let exploring = Task {
                // The time of this clock stands still, so the patience lasts.
                try await explore(seeds: [seed], clock: ManualClock()) { _ in
                    hasBegun.open()
                    await goesOn.waitDeaf()
                }
            }
            try await hasBegun.wait()
            exploring.cancel()
            goesOn.open()
            try await exploring.value
        }
    }
}
