import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A leak tracker", .timeLimit(.ample))
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
}
