import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

/// Which chains haven't ended, and who holds what meanwhile.
extension IntegrationRecorderTests {
    typealias Chain = @Sendable (_ call: IntegrationCall<Int>, _ other: IntegrationCall<Int>) -> IntegrationCall<Int>

    /// Each way to chain a call to one that succeeds.
    private static let chains: [Chain] = [
        { $0.nextSuccess($1) }, { $0.nextCompletion($1) },
        { $0.nextSuccess(Integrator(Echo<Int>()).prepareCall(1).nextSuccess($1)) },
        { $0.after(Integrator(Echo<Int>()).prepareCall(0).nextSuccess($1)) },
    ]

    @Test(
        "fails at the end for what is chained to a call and hasn't ended, where that was made",
        arguments: chains.indices)
    func unendedChain(index: Int) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let other = Integrator(provider)
        let line = #line + 3
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Self.chains[index](Integrator(Echo<Int>()).prepareCall(1), other.prepareCall(2)))
            _ = try await provider.nextRequest()
            try await recorder.expect(.began, .succeeded(1), .completed)
            recorder.verify()
        }
        #expect(failures.map(\.summary) == ["\(line): \(Self.oneUnendedChain)"])
        other.cancel()
    }

    @Test("has all told, and nothing as unended, of a chained call that is heard")
    func heardChain() async throws {
        for _ in 0..<200 {
            let line = Watched(0)
            let failures = try await TestScope.failures {
                let (recorder, hearing) = (IntegrationRecorder<Int>(), IntegrationRecorder<Int>())
                line.change { $0 = #line - 1 }
                let other = Integrator(Echo<Int>())
                hearing.hear(other)
                recorder.call(Integrator(Echo<Int>()).prepareCall(1).nextSuccess(other.prepareCall(2)))
                try await recorder.expect(.began, .succeeded(1), .completed)
            }
            try #require(
                failures.map(\.summary) == [
                    "\(line.value): Expected nothing more, and began, succeeded(2), completed came."
                ])
        }
    }

    @Test("fails at the end for a call that a value was forwarded to and that hasn't ended")
    func unendedForward() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let other = Integrator(provider)
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            for _ in 0..<2 { recorder.call(Integrator(Echo<Int>()).prepareCall(1).forwardSuccess(to: other)) }
            for _ in 0..<2 { _ = try await provider.nextRequest() }
            try await recorder.expect(.began)
            for _ in 0..<5 { try await recorder.expect(.any) }
        }
        #expect(failures.map(\.message) == [Self.oneUnendedChain, Self.oneUnendedChain])
        other.cancel()
    }

    @Test("fails for each recorder with an open chain, and for what leaks besides")
    func severalOpen() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let other = Integrator(provider)
        let screen = Screen()
        let failures = try await TestScope.failures {
            LeakTracker().track(screen)
            for _ in 0..<2 {
                let recorder = IntegrationRecorder<Int>()
                recorder.call(Integrator(Echo<Int>()).prepareCall(1).nextSuccess(other.prepareCall(2)))
                _ = try await provider.nextRequest()
                try await recorder.expect(.began, .succeeded(1), .completed)
            }
        }
        let leak = "Expected Screen to be released, and something still holds it."
        #expect(failures.map(\.message) == [Self.oneUnendedChain, Self.oneUnendedChain, leak])
        other.cancel()
    }

    @Test("asks nothing of what is chained if it isn't exhaustive, nor of what starts nothing")
    func noChain() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let other = Integrator(provider)
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>(exhaustive: false)
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).nextSuccess(other.prepareCall(2)))
            _ = try await provider.nextRequest()
            try await recorder.expect(.began, .succeeded(1), .completed)
        }
        try await TestScope.run {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).nextError(other.prepareCall(3)))
            try await recorder.expect(.began, .succeeded(1), .completed)
        }
        #expect(provider.requestCount == 1)
        other.cancel()
    }

    @Test("tells of a call that hasn't ended once, and not of what is chained to it")
    func unendedWithChain() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let (first, second) = (Integrator(provider), Integrator(provider))
        let failures = try await TestScope.failures {
            let recorder = IntegrationRecorder<Int>()
            let task = recorder.call(first.prepareCall(1).nextSuccess(second.prepareCall(2)))
            let request = try await provider.nextRequest()
            recorder.verify()
            // Told by now, it is told no more, also when only the chained call is left.
            request.answer(1)
            _ = try await provider.nextRequest()
            try await recorder.expect(.began, .succeeded(1), .completed)
            withExtendedLifetime(task) {}
        }
        #expect(
            failures.map(\.message) == [
                "Expected nothing more, and began came.", "Expected the call to have ended, and it had not.",
            ])
        second.cancel()
    }

    @Test("gives what is chained the time to end of which the test knows already", arguments: 0..<4)
    func endedChain(number: Int) async throws {
        for _ in 0..<125 { try await Self.endChain() }
    }

    @Test("gives it that time in every order")
    func endedChainInOrder() async throws {
        try await explore(seeds: 0..<200, patience: .zero) { _ in try await Self.endChain() }
    }

    private static func endChain() async throws {
        try await TestScope.run {
            let (recorder, other) = (IntegrationRecorder<Int>(), IntegrationRecorder<Int>())
            let next = Integrator(Echo<Int>())
            other.hear(next)
            recorder.call(Integrator(Echo<Int>()).prepareCall(1).nextSuccess(next.prepareCall(2)))
            try await recorder.expect(.began, .succeeded(1), .completed)
            // With its last event it has ended, but who made it hears of that a moment later.
            try await other.expect(.began, .succeeded(2), .completed)
        }
    }

    @Test("leaves nothing to wait for once each call was told, or is over with what is chained to it")
    func openCalls() {
        var open = OpenCalls()
        for call in 1...4 { open.begin(call, at: SourcePlace(line: 10 * call), isChained: call < 4) }
        open.end(1)
        var told = [open.tell([4, 2, 1]), open.tell([2, 4]), open.tellChained()]
        #expect(told.map { $0.map(\.line) } == [[20, 40], [], []])
        var areOver = [open.areOver()]
        told = [open.tellChained(), open.tellChained()]
        areOver.append(open.areOver())
        #expect(told.map { $0.map(\.line) } == [[30], []])
        #expect(areOver == [false, true])
    }

    @Test("says nothing of what is chained where the end of a scope can't give it time")
    @MainActor
    func synchronousScope() throws {
        let integrator = Integrator(Echo<Int>())
        let failures = Watched<[TestFailure]>([])
        try TestScope.run(reportingTo: { failure in failures.change { $0.append(failure) } }) {
            let recorder = IntegrationRecorder<Int>()
            recorder.call(integrator.prepareCall(1).nextSuccess(integrator.prepareCall(2)))
        }
        #expect(failures.value.map(\.message) == ["Expected nothing more, and began, succeeded(1), completed came."])
    }

    private final class Screen: Sendable {}

    @Test("holds no value for what is chained to a call, whether that ends or not", arguments: [false, true])
    func chainAndLeaks(isEnding: Bool) async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let other = Integrator(provider)
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            let recorder = IntegrationRecorder<Screen>()
            let integrator = Integrator(ValueDataProvider<Void, Screen>(leaks.track(Screen())))
            recorder.call(integrator.prepareCall().nextSuccess(other.prepareCall(2)))
            let request = try await provider.nextRequest()
            try await recorder.expect(.began, .succeeded, .completed)
            if isEnding { request.answer(2) }
        }
        #expect(failures.map(\.message) == (isEnding ? [] : [Self.oneUnendedChain]))
        other.cancel()
    }

    private static let oneUnendedChain =
        "Expected all that is chained to the call to have ended, and it had not."
}

extension EventExpectation {
    fileprivate static var any: Self { Self("any") { _ in true } }
}
