/// A provider whose failed requests are repeated. Made by ``DataProvider/retry(_:delay:clock:when:)``.
public struct RetryDataProvider<Base: DataProvider>: StreamDataProvider {
    let base: Base
    let rule: RetryRule
    let clock: any Clock<Duration>

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

    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values = AnsweringValues(of: base, for: input)
            var retries = 0
            return { isolation in
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
    }

    public var structure: ProviderStructure {
        .wrapping(base.structure, in: "retry, at most \(max(rule.count, 0)) \(rule.count == 1 ? "time" : "times")")
    }

    public var deliversMany: Bool { base.stream != nil }
}

/// The number of retries, the wait before each, and the errors that are retried.
struct RetryRule: Sendable {
    let count: Int
    let delay: RetryDelay
    let condition: @Sendable (any Error) -> Bool

    /// Returns whether `error` is retried after `retries` retries. A cancellation never is, and is not passed to the
    /// condition.
    func allows(_ error: any Error, after retries: Int) -> Bool {
        retries < count && CancelReason(error) == nil && !Task.isCancelled && condition(error)
    }

    /// Waits until the next retry, or throws `error` if it is not retried.
    func waitToRetry(after error: any Error, _ retries: inout Int, on clock: any Clock<Duration>) async throws {
        guard allows(error, after: retries) else { throw error }
        retries += 1
        try await pause(beforeRetry: retries, on: clock)
    }

    /// Waits for the delay before a retry, of which the first is number 1, and while the request is paused. Throws if the
    /// task is cancelled.
    func pause(beforeRetry number: Int, on clock: any Clock<Duration>) async throws {
        // A provider that keeps failing at once, without a delay, would occupy its actor, and no cancel would arrive.
        if number.isMultiple(of: 16) { await LibraryTask.yield() }
        try await clock.pause(for: delay.duration(beforeRetry: number))
        try await PauseControl.current?.waitWhilePaused()
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
        RetryDataProvider(base: self, rule: RetryRule(count: count, delay: delay, condition: when), clock: clock)
    }
}
