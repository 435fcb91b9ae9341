/// A provider whose failed requests are repeated. Made by ``DataProvider/retry(_:delay:clock:when:)``.
public struct RetryDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let rule: RetryRule
    private let clock: any Clock<Duration>

    init(
        _ base: Base, count: Int, delay: RetryDelay, clock: any Clock<Duration>,
        when: @escaping @Sendable (any Error) -> Bool
    ) {
        self.base = base
        rule = RetryRule(count: count, delay: delay, condition: when)
        self.clock = clock
    }

    /// Makes requests of the base until one succeeds or no retry is left. Throws the error of the last one.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        // A stream that has delivered a value is not repeated, so its values have to be read.
        guard base.stream == nil else { return try await values(for: input).lastValue() }
        return try await SideRequests.scope {
            var retries = 0
            while true {
                do {
                    return try await base.request(input)
                } catch {
                    try await rule.waitToRetry(after: error, &retries, on: clock)
                }
            }
        }
    }

    /// The values of the base, which is repeated only if it fails before its first value.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            RetryCursor(
                base: base, input: input, rule: rule, clock: clock,
                values: AnsweringValues(of: base, for: input))
        }
    }

    /// The base, with the number of retries.
    public var structure: ProviderStructure {
        .wrapping(base.structure, in: "retry, at most \(max(rule.count, 0)) \(rule.count == 1 ? "time" : "times")")
    }

    /// True if the base delivers many values.
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
    /// Returns this provider with failed requests repeated with the same input.
    ///
    /// A stream is repeated only if it fails before its first value. One that ends without a value has failed with
    /// ``DataProviderError/noAnswer``. A cancellation (`CancellationError`, ``IntegrationError/cancelled(_:)``) is never
    /// retried and never passed to `when`, and a cancelled task doesn't retry. Cancelling during the delay ends the
    /// request at once.
    ///
    /// - Parameters:
    ///   - count: The number of retries after the first request. Zero or less is none.
    ///   - delay: The wait before each retry.
    ///   - clock: The clock that measures the delay.
    ///   - when: Returns whether an error is worth a retry. Called once for each failure while retries are left, on the
    ///     caller's actor.
    public func retry(
        _ count: Int, delay: RetryDelay = .none, clock: any Clock<Duration> = ContinuousClock(),
        when: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> RetryDataProvider<Self> {
        RetryDataProvider(self, count: count, delay: delay, clock: clock, when: when)
    }
}
