import Dispatch
import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// The answer of a provider to its cancel arrives between the cancel of the provider and that of the timer.
@Suite(.timeLimit(.ample))
struct LateAnswerTests {
    /// Answers once it is cancelled, and signals when that answer has been read.
    private struct Late: StreamDataProvider {
        let isAsked = Signal()
        let isTaken = DispatchSemaphore(value: 0)

        func values(for input: Void) -> ProviderValues<Int> {
            ProviderValues { [self] in
                var hasAnswered = false
                return { _ in
                    guard !hasAnswered else {
                        isTaken.signal()
                        return nil
                    }
                    hasAnswered = true
                    isAsked.open()
                    await waitForCancel {}
                    return 1
                }
            }
        }
    }

    /// Sleeps until it is cancelled, and blocks the cancelling thread until the answer has been read, but not for ever.
    private struct Stuck: Clock {
        let isTaken: DispatchSemaphore
        /// True once the answer has been read while the thread was blocked.
        let hasHeldUp = Observed<Bool?>(nil)
        let minimumResolution = Duration.zero

        var now: ContinuousClock.Instant { ContinuousClock.now }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            await waitForCancel {
                let isInTime = isTaken.wait(timeout: .now() + .seconds(300)) == .success
                hasHeldUp.change { $0 = isInTime }
            }
            throw CancellationError()
        }
    }

    @Test("a cancelled time-out discards the answer of its provider to the cancel")
    func late() async throws {
        let provider = Late()
        let clock = Stuck(isTaken: provider.isTaken)
        let timed = provider.timeout(.seconds(1), clock: clock)
        let task = Task {
            var values = timed.values(for: ()).makeAsyncIterator()
            return try await values.next()
        }
        try await provider.isAsked.wait()
        // On no thread that the provider needs.
        DispatchQueue.global().async { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await clock.hasHeldUp.wait { $0 != nil }
        #expect(clock.hasHeldUp.value == true)
    }
}

/// Waits until the task is cancelled, and does something then.
private func waitForCancel(_ action: @Sendable () -> Void) async {
    let isCancelled = Signal()
    await withTaskCancellationHandler {
        await isCancelled.waitIgnoringCancel()
    } onCancel: {
        isCancelled.open()
        action()
    }
}

@Suite(.timeLimit(.ample))
struct ClockPauseTests {
    @Test("a sleep in steps is one sleep on a manual clock")
    func manualClock() async throws {
        let clock = ManualClock()
        async let sleep: Void = clock.sleepInSteps(until: clock.now.advanced(by: .seconds(600)))
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.seconds(600)])
        await clock.advance(by: .seconds(600))
        try await sleep
    }

    @Test("a sleep in steps ends at its deadline", arguments: [Duration.zero, .milliseconds(-5), .milliseconds(5)])
    func deadline(duration: Duration) async throws {
        let end = ContinuousClock.now.advanced(by: duration)
        try await ContinuousClock().sleepInSteps(until: end)
        #expect(ContinuousClock.now >= end)
    }

    @Test("a cancelled sleep in steps ends at once")
    func cancel() async {
        let sleep = Task { try await SuspendingClock().sleepInSteps(until: .now.advanced(by: .seconds(86_400))) }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }
}
