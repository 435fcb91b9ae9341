import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct RetryDelayTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let delay: RetryDelay
        var first = 1
        let milliseconds: [Int]
    }

    private static func jittered(by fraction: Double = 0.5, chance: Double) -> RetryDelay {
        .jittered(.constant(.seconds(4)), by: fraction) { chance }
    }

    static let rows = [
        Row(testDescription: "none", delay: .none, milliseconds: [0, 0]),
        Row(testDescription: "constant", delay: .constant(.seconds(3)), milliseconds: [3_000, 3_000]),
        Row(testDescription: "negative constant", delay: .constant(.seconds(-3)), milliseconds: [0]),
        Row(
            testDescription: "exponential",
            delay: .exponential(initial: .milliseconds(100), multiplier: 2, maximum: .seconds(1)),
            milliseconds: [100, 200, 400, 800, 1_000, 1_000]),
        Row(
            testDescription: "low numbers", delay: .exponential(initial: .seconds(2)), first: -1,
            milliseconds: [2_000, 2_000, 2_000, 4_000]),
        Row(testDescription: "multiplier 0", delay: .exponential(multiplier: 0), milliseconds: [1_000, 1_000]),
        Row(testDescription: "multiplier -2", delay: .exponential(multiplier: -2), milliseconds: [1_000, 1_000]),
        Row(testDescription: "multiplier NaN", delay: .exponential(multiplier: .nan), milliseconds: [1_000, 1_000]),
        Row(testDescription: "jitter by chance 0", delay: jittered(chance: 0), milliseconds: [4_000]),
        Row(testDescription: "jitter by chance 0.5", delay: jittered(chance: 0.5), milliseconds: [3_000]),
        Row(testDescription: "jitter by chance 7", delay: jittered(chance: 7), milliseconds: [2_000]),
        Row(testDescription: "jitter by chance NaN", delay: jittered(chance: .nan), milliseconds: [4_000]),
        Row(testDescription: "jitter by 3", delay: jittered(by: 3, chance: 1), milliseconds: [0]),
        Row(testDescription: "jitter by -3", delay: jittered(by: -3, chance: 1), milliseconds: [4_000]),
    ]

    @Test(arguments: rows)
    func `a delay gives the waits of its table row`(_ row: Row) {
        let waits = row.milliseconds.indices.map { row.delay.duration(beforeRetry: row.first + $0) }

        #expect(waits == row.milliseconds.map { .milliseconds($0) })
    }

    @Test(arguments: [0, 0.5, 1, 2, -1, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    func `an exponential delay of any numbers stays within its bounds`(multiplier: Double) {
        let longest = Duration.seconds(3_155_760_000)
        let durations: [Duration] = [.zero, .seconds(-1), .nanoseconds(1), .seconds(1), .seconds(Int64.max)]
        var faults: [String] = []
        for initial in durations {
            for maximum in durations {
                for number in [Int.min, 0, 1, 2, 63, 64, 10_000, .max] {
                    let delay = RetryDelay.exponential(initial: initial, multiplier: multiplier, maximum: maximum)
                    let duration = delay.duration(beforeRetry: number)
                    let jittered = RetryDelay.jittered(delay).duration(beforeRetry: number)
                    let isBounded = duration >= .zero && duration <= min(max(maximum, .zero), longest)
                    if !isBounded || jittered < .zero || jittered > duration { faults.append("\(delay) \(number)") }
                }
            }
        }
        #expect(faults.isEmpty)
    }
}
