import TestSupport
import Testing

@testable import IDMCore

@Suite("A retry delay", .timeLimit(.ample))
struct RetryDelayTests {
    @Test("of none is zero, of a constant the constant, never negative")
    func simple() {
        #expect(RetryDelay.none.duration(beforeRetry: 1) == .zero)
        #expect(RetryDelay.constant(.seconds(3)).duration(beforeRetry: 9) == .seconds(3))
        #expect(RetryDelay.constant(.seconds(-3)).duration(beforeRetry: 1) == .zero)
    }

    @Test("grows exactly, from the initial one to the maximum")
    func exponential() {
        let delay = RetryDelay.exponential(initial: .milliseconds(100), multiplier: 2, maximum: .seconds(1))
        #expect(
            (1...6).map { delay.duration(beforeRetry: $0) }
                == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
    }

    @Test("counts a number below one as the first", arguments: [0, -1, Int.min])
    func lowNumbers(number: Int) {
        #expect(RetryDelay.exponential(initial: .seconds(2)).duration(beforeRetry: number) == .seconds(2))
    }

    @Test(
        "neither overflows nor traps, whatever it is made of",
        arguments: [0, 0.5, 1, 2, -1, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    func extremes(multiplier: Double) {
        let longest = Duration.seconds(3_155_760_000)
        let durations: [Duration] = [.zero, .seconds(-1), .nanoseconds(1), .seconds(1), .seconds(Int64.max)]
        for initial in durations {
            for maximum in durations {
                for number in [Int.min, 0, 1, 2, 63, 64, 10_000, .max] {
                    let delay = RetryDelay.exponential(initial: initial, multiplier: multiplier, maximum: maximum)
                    let duration = delay.duration(beforeRetry: number)
                    #expect(duration >= .zero && duration <= min(max(maximum, .zero), longest))
                    let jittered = RetryDelay.jittered(delay).duration(beforeRetry: number)
                    #expect(jittered >= .zero && jittered <= duration)
                }
            }
        }
    }

    @Test("with a multiplier that isn't positive stays as it is", arguments: [0, -2, Double.nan])
    func uselessMultiplier(multiplier: Double) {
        let delay = RetryDelay.exponential(initial: .seconds(1), multiplier: multiplier)
        #expect(delay.duration(beforeRetry: 5) == .seconds(1))
    }

    @Test(
        "that is jittered is shortened by what the source of chance says, within its bounds",
        arguments: [(0.0, 4), (0.5, 3), (1, 2), (7, 2), (-7, 4), (.nan, 4)])
    func jitter(chance: Double, seconds: Int) {
        let delay = RetryDelay.jittered(.constant(.seconds(4)), by: 0.5) { chance }
        #expect(delay.duration(beforeRetry: 1) == .seconds(seconds))
    }

    @Test("that is jittered by more than all is jittered by all, by less than nothing not at all")
    func jitterFraction() {
        let all = RetryDelay.jittered(.constant(.seconds(4)), by: 3) { 1 }
        let nothing = RetryDelay.jittered(.constant(.seconds(4)), by: -3) { 1 }
        #expect(all.duration(beforeRetry: 1) == .zero)
        #expect(nothing.duration(beforeRetry: 1) == .seconds(4))
    }
}
