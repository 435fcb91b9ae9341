import IDMCore
import IDMTesting
import TestSupport
import Testing

extension Surroundings {
    fileprivate static func clock(provider: SpyDataProvider<UserDataProvider>) async throws {
        // sample: time that the test moves
        let clock = ManualClock()
        let search = Integrator(provider, executing: .latest(debounce: .milliseconds(300)), clock: clock)
        search.prepareCall("a").call()
        await clock.advance(by: .milliseconds(300))
        // end
        #expect(provider.inputs == ["a"])
    }

    fileprivate static func executor(poller: Poller, clock: ManualClock) {
        // sample: a task that a clock knows of
        Task(executorPreference: clock.executor) { try await poller.run(on: clock) }
        // end
    }

    fileprivate static func exploration() async throws {
        // sample: every order
        try await explore(seeds: 0..<500) { _ in
            let account = Account()
            async let first: Void = account.deposit(1)
            async let second: Void = account.deposit(1)
            _ = await (first, second)
            try #require(await account.balance == 2)
        }
        // end
    }

    fileprivate static func gate() async throws {
        // sample: an answer behind a gate
        let gate = TestGate()
        let provider = StubDataProvider { (id: Int) in
            try await gate.pass()
            return "user \(id)"
        }
        let task = Integrator(provider).prepareCall(1).call()
        try await gate.waitForTasks(1)
        gate.open()
        #expect(try await task.value == "user 1")
        // end
    }
}

@Suite("Samples of the comments on time and order", .fewAtOnce, .timeLimit(.ample))
struct OrderCommentSamples {
    @Test func `a manual clock`() async throws {
        let provider = SpyDataProvider(Surroundings.UserDataProvider())
        try await TestScope.run { try await Surroundings.clock(provider: provider) }
    }

    @Test func `the executor of a clock`() async throws {
        try await TestScope.run {
            let (poller, clock) = (Surroundings.Poller(), ManualClock())
            Surroundings.executor(poller: poller, clock: clock)
            await clock.advance(by: .seconds(60))
            #expect(poller.lookCount == 1)
        }
    }

    @Test func `an exploration`() async throws { try await Surroundings.exploration() }

    @Test func `a gate`() async throws { try await TestScope.run { try await Surroundings.gate() } }
}
