import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMTesting

@Suite("What is on its way out at the end of a scope", .timeLimit(.ample))
struct DepartureTests {
    @Test("is given time to go, and not waited for once it has gone")
    func goes() async {
        let looks = Watched(0)
        let ledger = FailureLedger(nil)
        ledger.atEnd(.leak, isGone: Self.atFourthLook(looks), { [] })
        await ledger.waitForDepartures(of: .leak)
        #expect(looks.value == 4)
        await ledger.waitForDepartures(of: .leak)
        #expect(looks.value == 4)
    }

    @Test("is given time to go in an exploration, though nothing can run any more", arguments: [false, true])
    func exploration(isInScope: Bool) async throws {
        let looks = Watched(0)
        @Sendable func leave() {
            FailureLedger.current.atEnd(
                .leak, isGone: Self.atFourthLook(looks),
                { looks.value == 4 ? [] : [TestFailure("stays", at: SourcePlace())] })
        }
        try await explore(seeds: [1], patience: .zero) { _ in
            if isInScope { try await TestScope.run { leave() } } else { leave() }
        }
        #expect(looks.value == 4)
    }

    private static func atFourthLook(_ looks: Watched<Int>) -> @Sendable () -> Bool {
        { looks.countOne() == 4 }
    }

    @Test("is given as much time in a task that was cancelled")
    func cancelled() async throws {
        let looks = Watched<[ContinuousClock.Instant]>([])
        let task = Task {
            try await TestScope.run {
                FailureLedger.current.atEnd(
                    .leak,
                    isGone: {
                        looks.change { looks in
                            looks.append(.now)
                            return looks.count == 4
                        }
                    }, { [] })
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        try await task.value
        #expect(looks.value.count == 4)
        #expect(looks.value[0].duration(to: looks.value[3]) >= .milliseconds(7))
    }

    @Test("may be a failure that comes from elsewhere: that is handed on, or goes outside, and isn't lost")
    func failureAtTheEnd() async {
        await #expect(processExitsWith: .exitCode(2)) {
            let (heard, ledger) = (Watched(0), Watched<FailureLedger?>(nil))
            TestScope.report { _ in exit(Int32(heard.value)) }
            let failure = TestFailure("again", at: SourcePlace())
            // Each comes as the one before is handed on.
            let closing = FailureLedger { _ in
                heard.change { $0 += 1 }
                ledger.value?.record(failure)
            }
            ledger.change { $0 = closing }
            closing.record(failure)
            closing.gather()
            _ = closing.close()
        }
    }

    @Test("isn't waited for without end")
    func stays() async {
        let ledger = FailureLedger(nil)
        ledger.atEnd(.leak, isGone: { false }, { [TestFailure("stays", at: SourcePlace())] })
        await ledger.waitForDepartures(of: .leak)
        await ledger.checkLeftovers()
        #expect(ledger.close().map(\.message) == ["stays"])
    }

    @Test("is no leak: what a run holds whose end is told on another thread")
    func runs() async throws {
        final class Screen: Sendable {}
        let provider = ControlledDataProvider<Int, Int>()
        let integrator = Integrator(provider)
        for round in 0..<1_000 {
            try await TestScope.run {
                let screen = LeakTracker().track(Screen())
                let task = integrator.prepareCall(round).onSuccess { _ in withExtendedLifetime(screen) {} }.call()
                try await provider.nextRequest().answer(1)
                await task.finish()
            }
        }
    }
}
