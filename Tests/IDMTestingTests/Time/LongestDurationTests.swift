import IDMCore
import IDMTesting
import TestSupport
import Testing

/// A clock of the system overflows, with a trap, not very far beyond what a duration can hold.
@Suite("The longest duration", .fewAtOnce, .timeLimit(.ample))
struct LongestDurationTests {
    /// A wait with a duration.
    enum Wait: CaseIterable, Sendable {
        case answer, contract

        func wait(_ duration: Duration, on clock: HastyClock) async throws {
            switch self {
            case .answer:
                let provider = ControlledDataProvider<Int, Int>()
                let task = Integrator(provider).prepareCall(1).call()
                try await provider.waitForRequest().answer(2, after: duration, on: clock)
                #expect(try await task.value == 2)
            case .contract:
                let limits = DataProviderContract.Limits(answer: duration, clock: clock)
                let failures = try await TestScope.failures {
                    try await DataProviderContract.check(input: 1, limits: limits, rules: [.answersOnce]) {
                        ControlledDataProvider<Int, Int>()
                    }
                }
                #expect(failures.count == 1)
            }
        }
    }

    @Test("The kit limits every duration to a hundred years", arguments: Wait.allCases)
    func bounded(wait: Wait) async throws {
        for duration in [Duration(attoseconds: .max), .seconds(Int64.max)] {
            let clock = HastyClock()
            try await wait.wait(duration, on: clock)
            #expect(clock.sleeps.first == .seconds(Int64(3_155_760_000)))
        }
    }

    /// Records durations, and never sleeps.
    final class HastyClock: Clock {
        private let noted = Observed<[Duration]>([])

        var sleeps: [Duration] { noted.value }
        var now: ManualClock.Instant { ManualClock.Instant(offset: .zero) }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            noted.change { $0.append(deadline.offset) }
        }
    }
}
