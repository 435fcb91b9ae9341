/// How long to wait before a request is made again.
///
/// Strategies are made by the static members. None of them ever gives a negative time or more than a hundred years,
/// however great the numbers are.
public struct RetryDelay: Sendable {
    private enum Kind: Sendable {
        case none
        case constant(Duration)
        case exponential(initial: Duration, multiplier: Double, maximum: Duration)
        indirect case jittered(RetryDelay, by: Double, random: @Sendable () -> Double)
    }

    private let kind: Kind

    /// No wait at all.
    public static let none = RetryDelay(kind: .none)

    /// The same wait every time. A negative one is none.
    public static func constant(_ duration: Duration) -> RetryDelay {
        RetryDelay(kind: .constant(duration))
    }

    /// A wait that grows: `initial` before the first retry, then each time `multiplier` times as long, up to `maximum`.
    ///
    /// A multiplier that isn't a positive number counts as 1. A negative `initial` or `maximum` is none.
    public static func exponential(
        initial: Duration = .seconds(1), multiplier: Double = 2, maximum: Duration = .seconds(60)
    ) -> RetryDelay {
        RetryDelay(kind: .exponential(initial: initial, multiplier: multiplier, maximum: maximum))
    }

    /// Another delay, shortened at random, so that many who failed together don't come back together.
    ///
    /// The wait is never longer than the other delay d and never shorter than d × (1 − `fraction`).
    ///
    /// - Parameters:
    ///   - delay: The delay that is shortened.
    ///   - fraction: How much may be taken away, from 0 to 1; what is outside is moved to the nearer end.
    ///   - random: A number from 0 (the whole delay) to 1 (the shortest), asked once for each retry.
    public static func jittered(
        _ delay: RetryDelay = .exponential(), by fraction: Double = 0.5,
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) -> RetryDelay {
        RetryDelay(kind: .jittered(delay, by: fraction, random: random))
    }

    /// How long to wait before a retry. The first retry is number 1; a number below counts as 1.
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
            // Compared as numbers, so that a product too great for a duration is never made.
            return growth < maximum / initial ? initial * growth : maximum
        case .jittered(let delay, let fraction, let random):
            let duration = delay.duration(beforeRetry: number)
            return duration - duration * (fraction.clampedToUnit * random().clampedToUnit)
        }
    }
}

extension Double {
    /// The number to a power that may be very great.
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

    fileprivate var clampedToUnit: Double {
        self > 0 ? Swift.min(self, 1) : 0
    }
}
