import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A leak tracker", .fewAtOnce, .timeLimit(.ample))
struct LeakTrackerTests {
    private final class Screen: Sendable {}

    @Test("is content with what has gone")
    func gone() async throws {
        try await TestScope.run {
            let leaks = LeakTracker()
            let screen = leaks.track(Screen())
            withExtendedLifetime(screen) {}
        }
    }

    @Test("fails for what outlives the scope, at the line where it was tracked")
    func leaked() async throws {
        let kept = Watched<[Screen]>([])
        let line = #line + 4
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            leaks.track(Screen())
            let screen = leaks.track(Screen())
            kept.change { $0.append(screen) }
        }
        #expect(
            failures.map(\.summary) == ["\(line): Expected Screen to be released, and something still holds it."])
        withExtendedLifetime(kept) {}
    }

    @Test("can be asked before the end, and calls things by their name")
    func verify() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let leaks = LeakTracker()
            let screen = leaks.track(Screen(), as: "the screen")
            leaks.verify()
            withExtendedLifetime(screen) {}
        }
        #expect(failures.map(\.message) == ["Expected the screen to be released, and something still holds it."])
    }

    @Test("finds what a task holds that was left behind")
    func tasks() async throws {
        let gate = TestGate()
        let line = #line + 3
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            let screen = leaks.track(Screen())
            Task {
                try await gate.pass()
                withExtendedLifetime(screen) {}
            }
            try await gate.waiting(1)
        }
        #expect(
            failures.map(\.summary) == ["\(line): Expected Screen to be released, and something still holds it."])
        gate.open()
    }

    @Test("finds what a run holds that has not ended, and not what an ended one held")
    func runs() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            let (held, free) = (leaks.track(Screen(), as: "held"), leaks.track(Screen(), as: "free"))
            integrator.prepareCall(1).onSuccess { _ in withExtendedLifetime(held) {} }.call()
            _ = try await provider.nextRequest()
            let task = Integrator(Echo<Int>()).prepareCall(1).onSuccess { _ in withExtendedLifetime(free) {} }.call()
            await task.finish()
        }
        #expect(failures.map(\.message) == ["Expected held to be released, and something still holds it."])
        integrator.cancel()
    }

    @Test("doesn't take a stub of the scope for a holder once it has gone, neither at the end nor before")
    func stubs() async throws {
        try await TestScope.run {
            let leaks = LeakTracker()
            let screen = leaks.track(Screen())
            let stub = StubDataProvider { (number: Int) in withExtendedLifetime(screen) { number } }
            _ = try await stub.request(1)
        }
        try await TestScope.run {
            let leaks = LeakTracker()
            func use(_ screen: Screen) async throws {
                let stub = StubDataProvider<Int, Screen>(values: [screen, screen])
                for input in 1...2 { _ = try await stub.request(input) }
            }
            try await use(leaks.track(Screen()))
            leaks.verify()
        }
    }

    @Test("doesn't take a recorder of the scope for a holder of the values that it heard")
    func recorders() async throws {
        try await TestScope.run {
            let leaks = LeakTracker()
            let recorder = IntegrationRecorder<Screen>()
            let integrator = Integrator(ValueDataProvider<Void, Screen>(leaks.track(Screen())))
            await recorder.call(integrator.prepareCall()).finish()
            try await recorder.expect(.began, .succeeded, .completed)
        }
    }

    @Test("fails for what a stub of the scope holds that outlives it")
    func outlivingStub() async throws {
        let kept = Watched<StubDataProvider<Int, Screen>?>(nil)
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            let stub = StubDataProvider<Int, Screen>(leaks.track(Screen()))
            _ = try await stub.request(1)
            kept.change { $0 = stub }
        }
        #expect(failures.map(\.message) == ["Expected Screen to be released, and something still holds it."])
        kept.change { $0 = nil }
    }

    @Test("tells of each object once, however often it is asked")
    func once() async throws {
        let kept = Watched<[Screen]>([])
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            kept.change { $0.append(leaks.track(Screen(), as: "first")) }
            for _ in 0..<2 { leaks.verify() }
            kept.change { $0.append(leaks.track(Screen(), as: "second")) }
        }
        #expect(
            failures.map(\.message) == [
                "Expected first to be released, and something still holds it.",
                "Expected second to be released, and something still holds it.",
            ])
        kept.change { $0 = [] }
    }
}
