/// A provider that is asked again when it fails. Made by ``DataProvider/retry(_:delay:clock:when:)``.
public struct RetryDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let rule: RetryRule
    private let clock: any Clock<Duration>

    /// Makes a provider that asks the base again, so many times, when it fails.
    public init(
        _ base: Base, count: Int, delay: RetryDelay = .none, clock: any Clock<Duration> = ContinuousClock(),
        when: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) {
        self.base = base
        rule = RetryRule(count: count, delay: delay, condition: when)
        self.clock = clock
    }

    /// Asks the base until it answers, or until no retry is left: then with the error of the last one.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        // A stream that has delivered a value isn't repeated, so the values have to be looked at.
        guard base.stream == nil else { return try await values(for: input).lastValue() }
        var retries = 0
        while true {
            do {
                return try await base.request(input)
            } catch {
                try await rule.waitToRetry(after: error, &retries, on: clock)
            }
        }
    }

    /// The values of the base, which is asked again only if it fails before its first value.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            RetryCursor(
                base: base, input: input, rule: rule, clock: clock,
                values: AnsweringValues(of: base, for: input))
        }
    }

    /// The base, with how often it is asked again.
    public var structure: ProviderStructure {
        .wrapping(base.structure, in: "retry, at most \(max(rule.count, 0)) \(rule.count == 1 ? "time" : "times")")
    }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }
}

private struct RetryCursor<Base: DataProvider>: ValueCursor {
    let base: Base
    let input: Base.Input
    let rule: RetryRule
    let clock: any Clock<Duration>
    var values: AnsweringValues<Base.Output>
    var retries = 0

    mutating func next(isolation: isolated (any Actor)?) async throws -> Base.Output? {
        while true {
            do {
                return try await values.next(isolation: isolation)
            } catch {
                guard !values.hasAnswered else { throw error }
                try await rule.waitToRetry(after: error, &retries, on: clock)
                values = AnsweringValues(of: base, for: input)
            }
        }
    }
}

extension DataProvider {
    /// This provider, asked again with the same input when it fails.
    ///
    /// A stream is repeated only before its first value: what has been heard isn't taken back. One that ends without a
    /// value has failed with ``DataProviderError/noAnswer``. A cancellation
    /// (`CancellationError`, ``IntegrationError/cancelled(_:)``) is never retried and never shown to `when`, and a
    /// cancelled task doesn't try again. Cancelling during the delay ends the request at once.
    ///
    /// - Parameters:
    ///   - count: How often to ask again, beyond the first time. Zero or less is not at all.
    ///   - delay: How long to wait before each retry.
    ///   - clock: What measures the delay.
    ///   - when: Whether an error is worth a retry. Asked once for each failure that could be retried, on the caller's
    ///     actor.
    public func retry(
        _ count: Int, delay: RetryDelay = .none, clock: any Clock<Duration> = ContinuousClock(),
        when: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> RetryDataProvider<Self> {
        RetryDataProvider(self, count: count, delay: delay, clock: clock, when: when)
    }
}
