import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

/// What is told of a body that hangs.
extension ExploreTests {
    @Test("leaves a body behind that hangs and doesn't hear its cancel")
    func deafBody() async throws {
        let gate = Watched(false)
        await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { _ in try await gate.wait(deaf: true) { $0 } }
        }
        gate.change { $0 = true }
    }

    @Test("tells what the kit has found wrong by the time that nothing can run any more")
    func failuresBeforeStall() async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) {
                try await explore(seeds: [3], patience: .zero) { executor in
                    let (stub, hasAnswered) = (StubDataProvider<Int, Int>.unexpected(), Signal())
                    Task(executorPreference: executor) {
                        _ = try await stub.request(1)
                        hasAnswered.open()
                    }
                    try await hasAnswered.wait()
                }
            })
        let found = try #require(failure.error as? TestFailures)
        #expect(found.failures.map(\.message) == ["The stub expected no request, and request 1 came: 1"])
        #expect(found.error.map { "\($0)" }?.hasPrefix("the body had not ended, and for 0") == true)
        #expect(failure.seed == 3)
    }

    @Test("holds nothing of a body that hangs once that has come to its end", arguments: [true, false])
    func holding(throwing: Bool) async throws {
        let gone = Log()
        @Sendable func make() {
            let canary = Canary { gone.add("gone") }
            _ = StubDataProvider { (_: Int) in withExtendedLifetime(canary) { 0 } }
        }
        await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { _ in
                make()
                do {
                    try await Signal().wait()
                } catch {
                    // It is left by now.
                    make()
                    if throwing { throw error }
                }
            }
        }
        try await gone.count(reaches: 2)
    }

    @Test("takes an exploration within the body for no hang, however long that takes")
    func nested() async throws {
        let sleeping = { @Sendable (_: DeterministicExecutor) in
            let clock = ManualClock()
            async let slept: Void = clock.sleep(for: .seconds(1))
            await clock.run()
            try await slept
        }
        try await explore(seeds: 0..<50, patience: .zero) { _ in
            try await explore(seeds: 0..<3, patience: .zero, sleeping)
            try await TestScope.run { try await explore(seeds: 0..<3, patience: .zero, sleeping) }
        }
    }

    /// Moves a clock as soon as somebody sleeps on it.
    private static func move(_ clock: ManualClock) async throws {
        try await clock.sleepers(1)
        await clock.advance(by: .seconds(1))
    }

    @Test("lets an exploration within the body wait for what the body's clock brings")
    func nestedTime() async throws {
        try await explore(seeds: 0..<50, patience: .zero) { _ in
            let clock = ManualClock()
            async let moved: Void = Self.move(clock)
            let delayed = Integrator(Echo<Int>().delay(.seconds(1), clock: clock))
            // The time of this clock stands still, so the patience lasts.
            try await explore(seeds: [1], clock: ManualClock()) { _ in
                let value = try await delayed.request(1)
                try #require(value == 1)
            }
            try await moved
        }
    }

    @Test("lets the body's clock measure the patience of an exploration within it")
    func nestedPatience() async throws {
        try await explore(seeds: 0..<50, patience: .zero) { _ in
            let clock = ManualClock()
            async let moved: Void = Self.move(clock)
            do {
                try await explore(seeds: [1], patience: .seconds(1), clock: clock) { _ in try await TestGate().pass() }
                throw Trouble.first
            } catch let failure as ExplorationFailure {
                try #require("\(failure.error)".contains("nothing was left that could run"))
            }
            try await moved
        }
    }

    @Test("tells a hang of an exploration within the body as one of that, and one after it as its own")
    func nestedHang() async throws {
        let inner = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { _ in
                try await explore(seeds: [2], patience: .zero) { _ in try await Signal().wait() }
            }
        }
        #expect(inner?.seed == 1)
        #expect((inner?.error as? ExplorationFailure)?.seed == 2)
        let outer = await #expect(throws: ExplorationFailure.self) {
            try await explore(seeds: [1], patience: .zero) { _ in
                try await explore(seeds: [2], patience: .zero) { _ in }
                try await Signal().wait()
            }
        }
        #expect(outer?.error is Stall)
    }

    @Test("tells nothing of what a body does once it is left", arguments: 0..<100)
    func leftBody(seed: Int) async throws {
        let hasAsked = Signal()
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) {
                try await explore(seeds: [seed], patience: .zero) { _ in
                    let stub = StubDataProvider<Int, Int>.unexpected()
                    try? await Watched(false).wait { $0 }
                    _ = try? await stub.request(1)
                    hasAsked.open()
                }
            })
        #expect("\(failure.error)".hasPrefix("the body had not ended"))
        try await hasAsked.wait()
    }

    @Test("tells what a scope within the body keeps for its end, and nothing of what a body does there once it is left")
    func leftScope() async throws {
        let (heard, hasEnded) = (Log(), Signal())
        let around = try await TestScope.failures(failingOnLeftovers: false) {
            let (outside, provider) = (StubDataProvider<Int, Int>.unexpected(), ControlledDataProvider<Int, Int>())
            let failure = try #require(
                await #expect(throws: ExplorationFailure.self) {
                    try await explore(seeds: [1], patience: .zero) { _ in
                        let stub = StubDataProvider<Int, Int>.unexpected()
                        let ended = try? await TestScope.run(reportingTo: { heard.add($0.message) }) {
                            let inner = StubDataProvider<Int, Int>.unexpected()
                            _ = try? await inner.request(1)
                            _ = try? await TestScope.$current.withValue(nil) { try await inner.request(2) }
                            _ = try? await provider.nextRequest()
                            for stub in [inner, stub, outside] { _ = try? await stub.request(3) }
                            for stub in [inner, stub] { await Task.detached { _ = try? await stub.request(4) }.value }
                            _ = StubDataProvider<Int, Int>(1)
                            return inner
                        }
                        // Would go outside, where it fails the process.
                        await Task.detached { _ = try? await ended?.request(5) }.value
                        try? await TestScope.run { _ = try? await stub.request(6) }
                        hasEnded.open()
                    }
                })
            let found = try #require(failure.error as? TestFailures)
            #expect(
                found.failures.map(\.message) == [
                    "The stub expected no request, and request 2 came: 2",
                    "Expected 1 request, and none came until nothing was left that could run.",
                ])
            try await hasEnded.wait()
        }
        #expect(heard.entries == ["The stub expected no request, and request 1 came: 1"])
        // Of what was made around it nothing is lost.
        #expect(around.map(\.message) == ["The stub expected no request, and request 1 came: 3"])
    }

    @Test("tells what a body waits for that hangs, at its lines")
    func waits() async throws {
        let outside = ControlledDataProvider<Int, Int>()
        let line = #line + 5
        func hang() async throws {
            try await explore(seeds: [1], patience: .zero) { _ in
                let (provider, recorder) = (ControlledDataProvider<Int, Int>(), IntegrationRecorder<Int>())
                let call = recorder.call(Integrator(provider).prepareCall(1))
                async let request = outside.nextRequest()
                _ = try await provider.nextRequest()
                try await TestScope.run {
                    _ = try? await StubDataProvider<Int, Int>.unexpected().request(1)
                    try await recorder.expect(.began, .succeeded(1))
                }
                _ = try await (request, call.value)
            }
        }
        let failure = try #require(await #expect(throws: ExplorationFailure.self) { try await hang() })
        let found = try #require(failure.error as? TestFailures)
        #expect(found.error.map { "\($0)" }?.hasPrefix("the body had not ended") == true)
        #expect(
            Set(found.failures.map { "\($0.place.line - line): \($0.message)" }) == [
                "0: Expected 1 request, and none came until nothing was left that could run.",
                "3: The stub expected no request, and request 1 came: 1",
                "4: Expected began, succeeded(1), and began came until nothing was left that could run.",
            ])
    }

    @Test("tells no wait that has what it waits for, and is about to go on")
    func satisfiedWait() {
        let ledger = FailureLedger(nil)
        let place = SourcePlace()
        for count in 1...2 {
            ledger.begin(
                FailureLedger.OpenPart(waitingFor: Watched(1), at: place) {
                    $0 == count ? nil : "Expected \(count), and \($0) came"
                })
        }
        #expect(ledger.failures(waitingUntil: "now") == [TestFailure("Expected 2, and 1 came until now.", at: place)])
    }

    @Test("tells a failure once that the body throws as well")
    func failureThrown() async throws {
        let failure = try #require(
            await #expect(throws: ExplorationFailure.self) {
                try await explore(seeds: [1]) { _ in
                    _ = try await StubDataProvider<Int, Int>.unexpected().request(1)
                }
            })
        let found = try #require(failure.error as? TestFailures)
        #expect(found.failures.map(\.message) == ["The stub expected no request, and request 1 came: 1"])
        #expect(found.error == nil)
    }
}
