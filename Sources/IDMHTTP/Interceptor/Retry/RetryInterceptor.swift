internal import Foundation
public import IDMCore

/// Sends a request again after a transient failure.
///
/// - **Which requests.** Those whose method is harmless to repeat (GET, HEAD, OPTIONS, PUT, DELETE), and any with an
///   `Idempotency-Key`. Never a request whose body can be read only once.
/// - **After which failures.** Those of ``isTransient``, unless you choose others: network failures of the transport,
///   an exchange that the transport cancelled on its own, an idle time-out, and the statuses 408, 429, 502, 503 and
///   504. Never after a `CancellationError`.
/// - **After which delay.** After ``delay``, or after a longer `Retry-After`.
/// - **Not at all** if the delay exceeds ``maximumWait`` or the request's total time-out, or if the budget is used up:
///   the failure is then thrown at once.
public struct RetryInterceptor: HTTPInterceptor {
    /// The number of retries, beyond the first attempt.
    public var count: Int
    /// The delay before each retry.
    public var delay: RetryDelay
    /// The longest delay. A longer one ends the retries.
    public var maximumWait: Duration
    /// The shared budget of retries. Nil for no limit.
    public var budget: RetryBudget?
    private let clock: any Clock<Duration>
    var now: @Sendable () -> Date = { Date() }
    private let condition: @Sendable (HTTPError) -> Bool

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - count: The number of retries. Zero or less is none.
    ///   - delay: The delay before each retry.
    ///   - maximumWait: The longest delay. A longer one ends the retries.
    ///   - budget: The shared budget of retries.
    ///   - clock: The clock of the delays.
    ///   - when: Returns true for a failure to retry. Called only for requests that can be sent again.
    public init(
        _ count: Int = 2, delay: RetryDelay = .jittered(), maximumWait: Duration = .seconds(60),
        budget: RetryBudget? = nil, clock: any Clock<Duration> = ContinuousClock(),
        when: @escaping @Sendable (HTTPError) -> Bool = RetryInterceptor.isTransient
    ) {
        self.count = count
        self.delay = delay
        self.maximumWait = maximumWait
        self.budget = budget
        self.clock = clock
        condition = when
    }

    /// Returns true for a transient failure: a network failure of the transport, also an unknown one, an exchange that
    /// the transport cancelled (``HTTPError/Reason/cancelled``), a time-out other than the total one, and the statuses
    /// 408, 429, 502, 503 and 504.
    public static let isTransient: @Sendable (HTTPError) -> Bool = { error in
        switch error.reason {
        case .transport(let error): (error as? TransportFault)?.kind.isTransient ?? true
        case .timedOut(.idle), .timedOut(.transport), .cancelled: true
        case .status(let status): [408, 429, 502, 503, 504].contains(status)
        case .badRequest, .timedOut(.total), .rejected, .decoding, .tooLarge, .headerTooLarge, .redirect:
            false
        }
    }

    /// Sends the request, and again after a transient failure.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        let elapsed = clock.stopwatch()
        var retries = 0
        while true {
            do {
                let response = try await next(request)
                budget?.succeed()
                return response
            } catch let error as HTTPError where retries < count && request.isRetryable && condition(error) {
                retries += 1
                let wait = wait(beforeRetry: retries, error)
                let deadline = request.totalTimeout ?? next.configuration.totalTimeout
                let isInTime = deadline.map { elapsed() + wait < $0 } ?? true
                guard wait <= maximumWait, isInTime, budget?.take() ?? true else { throw error }
                EventRecorder.record(.retry(retries, after: wait, because: "\(error)"))
                try await clock.pause(for: wait)
                try await PauseControl.checkpoint()
            }
        }
    }

    private func wait(beforeRetry number: Int, _ error: HTTPError) -> Duration {
        let own = delay.duration(beforeRetry: number)
        let asked = error.response.flatMap {
            RetryAfter.wait($0.headers, now: Int(now().timeIntervalSince1970))
        }
        return max(own, asked ?? .zero)
    }
}

/// The delay that a server asks for in `Retry-After`.
enum RetryAfter {
    /// - Parameter now: The seconds since 1970, for a response without a date.
    static func wait(_ headers: ServiceHeaders, now: Int) -> Duration? {
        guard let text = headers.values(of: .retryAfter).first?.trimmingCharacters(in: .whitespaces) else { return nil }
        if text.consists(of: .digits) {
            // A number too large for an integer is limited to a hundred years.
            return .seconds(min(Int64(text) ?? .max, 3_155_760_000))
        }
        guard let date = HTTPDate(text) else { return nil }
        // By the server's own clock, so that it doesn't matter how far ours is from it.
        let start = headers.values(of: .date).first.flatMap(HTTPDate.init)?.seconds ?? now
        return .seconds(max(date.seconds - start, 0))
    }
}
