/// The wait before a request is repeated.
///
/// Made by the static members. Whatever the numbers are, the wait is never negative and never longer than a hundred
/// years.
public struct RetryDelay: Sendable {
    private enum Kind: Sendable {
        case none
        case constant(Duration)
        case exponential(initial: Duration, multiplier: Double, maximum: Duration)
        indirect case jittered(RetryDelay, by: Double, random: @Sendable () -> Double)
    }

    private let kind: Kind

    /// No wait.
    public static let none = RetryDelay(kind: .none)

    /// The same wait before each retry. A negative duration is no wait.
    public static func constant(_ duration: Duration) -> RetryDelay {
        RetryDelay(kind: .constant(duration))
    }

    /// A wait that grows: `initial` before the first retry, then `multiplier` times the wait before, up to `maximum`.
    ///
    /// A multiplier that is not a positive number counts as 1. A negative `initial` or `maximum` is no wait.
    public static func exponential(
        initial: Duration = .seconds(1), multiplier: Double = 2, maximum: Duration = .seconds(60)
    ) -> RetryDelay {
        RetryDelay(kind: .exponential(initial: initial, multiplier: multiplier, maximum: maximum))
    }

    /// A delay shortened at random, so that many clients that failed together don't retry together.
    ///
    /// The wait is never longer than `delay` and never shorter than `delay` × (1 − `fraction`).
    ///
    /// - Parameters:
    ///   - delay: The delay to shorten.
    ///   - fraction: The part of the delay that may be removed, clamped to 0...1.
    ///   - random: Returns a number from 0 (the whole delay) to 1 (the shortest). Called once for each retry.
    public static func jittered(
        _ delay: RetryDelay = .exponential(), by fraction: Double = 0.5,
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) -> RetryDelay {
        RetryDelay(kind: .jittered(delay, by: fraction, random: random))
    }

    /// Returns the wait before a retry. The first retry is number 1, and lower numbers count as 1.
    public func duration(beforeRetry number: Int) -> Duration {
        switch kind {
        case .none:
            return .zero
        case .constant(let duration):
            return duration.bounded
        case .exponential(let initial, let multiplier, let maximum):
            let initial = initial.bounded
            let maximum = maximum.bounded
            guard initial > .zero, initial < maximum else { return min(initial, maximum) }
            let growth = multiplier > 0 ? multiplier.power(max(number, 1) - 1) : 1
            // Compared as numbers, because the product may overflow a duration.
            return growth < maximum / initial ? initial * growth : maximum
        case .jittered(let delay, let fraction, let random):
            let duration = delay.duration(beforeRetry: number)
            return duration - duration * (fraction.clampedToUnit * random().clampedToUnit)
        }
    }
}

extension Double {
    /// The number raised to a power that may be large.
    fileprivate func power(_ exponent: Int) -> Double {
        var result = 1.0
        var factor = self
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result *= factor }
            factor *= factor
            rest >>= 1
        }
        return result
    }

    fileprivate var clampedToUnit: Double { self > 0 ? Swift.min(self, 1) : 0 }
}
