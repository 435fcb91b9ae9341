import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

@Suite("The end of a scope", .timeLimit(.ample))
struct EndCheckTests {
    /// Leaves a request unanswered in a plain task, and returns the line of the failure.
    static let unanswered: [@Sendable (Observed<Task<Void, any Error>?>) async throws -> Int] = [
        { task in
            let spy = SpyDataProvider(ControlledDataProvider<String, Int>())
            task.change { $0 = Task { _ = try await spy.request("apple") } }
            try await spy.waitForRequests(1)
            return #line - 3
        },
        { task in
            let provider = ControlledDataProvider<String, Int>()
            task.change { $0 = Task { _ = try await provider.request("apple") } }
            _ = try await provider.waitForRequest()
            return #line - 1
        },
        { task in
            let provider = ControlledStreamDataProvider<String, Int>()
            task.change { $0 = Task { _ = try await provider.request("apple") } }
            _ = try await provider.waitForRequest()
            return #line - 1
        },
        { task in
            let provider = ControlledCallbackDataProvider<String, Int>()
            task.change { $0 = Task { _ = try await Integrator(provider).request("apple") } }
            _ = try await provider.waitForRequest()
            return #line - 1
        },
    ]

    @Test("An unanswered request in a plain task fails at its line", arguments: unanswered.indices)
    func unansweredRequest(index: Int) async throws {
        let (task, line) = (Observed<Task<Void, any Error>?>(nil), Observed(0))
        let failures = try await TestScope.failures {
            let found = try await Self.unanswered[index](task)
            line.change { $0 = found }
        }

        #expect(
            failures.map(\.summary) == [
                "\(line.value): Expected an answer to the request with apple, and none came."
            ])
        task.value?.cancel()
    }

    @Test("A cancelled request needs no answer", arguments: [true, false])
    func cancelledRequest(reactsToCancel: Bool) async throws {
        let provider = Observed<ControlledDataProvider<Int, Int>?>(nil)
        try await TestScope.run {
            let made = ControlledDataProvider<Int, Int>(reactsToCancel: reactsToCancel)
            provider.change { $0 = made }
            let task = Task { try await made.request(1) }
            let request = try await made.waitForRequest()
            task.cancel()
            try await request.waitUntilCancelled()
        }
        provider.value?.requests.first?.answer(1)
    }

    @Test("A check that settles at its fourth look is waited for", arguments: [false, true])
    func grace(isCancelled: Bool) async throws {
        let looks = Observed(0)
        let test = Task {
            try await TestScope.run {
                FailureCollector.current.atEnd(
                    EndCheck(.release) {
                        looks.countOne() == 4
                    } failures: {
                        looks.value == 4 ? [] : [TestFailure("stays", at: SourcePlace())]
                    })
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }

        try await test.value
        #expect(looks.value == 4)
    }

    @Test("A check that never settles runs after the grace period")
    func noGrace() async throws {
        let failures = try await TestScope.failures {
            for (stage, message) in [(EndCheck.Stage.release, "leak"), (.activity, "call"), (.expectations, "stub")] {
                FailureCollector.current.atEnd(
                    EndCheck(stage, isSettled: { false }, failures: { [TestFailure(message, at: SourcePlace())] }))
            }
        }

        #expect(failures.map(\.message) == ["call", "stub", "leak"])
    }

    @Test("Objects that ended calls are about to release are no leaks")
    func releasedByCalls() async throws {
        final class Screen: Sendable {}
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        for round in 0..<300 {
            try await TestScope.run {
                let screen = LeakTracker().track(Screen())
                let task = integrator.prepareCall(round).onSuccess { _ in withExtendedLifetime(screen) {} }.call()
                try await provider.waitForRequest().answer(1)
                await task.finish()
            }
        }
    }
}
