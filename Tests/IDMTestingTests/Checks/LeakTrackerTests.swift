import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A leak tracker", .fewAtOnce, .timeLimit(.ample))
struct LeakTrackerTests {
    private final class Screen: Sendable {}

    @Test("A released object is no failure")
    func gone() async throws {
        try await TestScope.run {
            let leaks = LeakTracker()
            let screen = leaks.track(Screen())
            withExtendedLifetime(screen) {}
        }
    }

    @Test("An object that outlives the scope fails at the line of its tracking")
    func leaked() async throws {
        let kept = Observed<[Screen]>([])
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

    @Test("Verify reports leaks by their names before the end")
    func verify() async throws {
        let failures = try await TestScope.failures(failingOnLeftovers: false) {
            let leaks = LeakTracker()
            let screen = leaks.track(Screen(), as: "the screen")
            leaks.verify()
            withExtendedLifetime(screen) {}
        }
        #expect(failures.map(\.message) == ["Expected the screen to be released, and something still holds it."])
    }

    @Test("An object that a forgotten task holds is a leak")
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
            try await gate.waitForTasks(1)
        }
        #expect(
            failures.map(\.summary) == ["\(line): Expected Screen to be released, and something still holds it."])
        gate.open()
    }

    @Test("An object that an open call holds is a leak")
    func runs() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            let (held, free) = (leaks.track(Screen(), as: "held"), leaks.track(Screen(), as: "free"))
            integrator.prepareCall(1).onSuccess { _ in withExtendedLifetime(held) {} }.call()
            _ = try await provider.waitForRequest()
            let task = Integrator(Echo<Int>()).prepareCall(1).onSuccess { _ in withExtendedLifetime(free) {} }.call()
            await task.finish()
        }
        #expect(failures.map(\.message) == ["Expected held to be released, and something still holds it."])
        integrator.cancel()
    }

    @Test("A released stub holds no tracked object")
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

    @Test("The recorder of a scope holds no tracked value at its end")
    func recorders() async throws {
        try await TestScope.run {
            let leaks = LeakTracker()
            let recorder = IntegrationRecorder<Screen>()
            let integrator = Integrator(ValueDataProvider<Void, Screen>(leaks.track(Screen())))
            await recorder.call(integrator.prepareCall()).finish()
            try await recorder.waitForEvents(.began, .succeeded, .completed)
        }
    }

    @Test("An object that an outliving stub holds is a leak")
    func outlivingStub() async throws {
        let kept = Observed<StubDataProvider<Int, Screen>?>(nil)
        let failures = try await TestScope.failures {
            let leaks = LeakTracker()
            let stub = StubDataProvider<Int, Screen>(leaks.track(Screen()))
            _ = try await stub.request(1)
            kept.change { $0 = stub }
        }
        #expect(failures.map(\.message) == ["Expected Screen to be released, and something still holds it."])
        kept.change { $0 = nil }
    }

    @Test("Each leak is reported once")
    func once() async throws {
        let kept = Observed<[Screen]>([])
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
