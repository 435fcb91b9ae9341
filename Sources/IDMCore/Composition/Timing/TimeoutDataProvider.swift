/// A provider with a time limit. Made by ``DataProvider/timeout(_:clock:)``.
public struct TimeoutDataProvider<Base: DataProvider>: StreamDataProvider {
    let base: Base
    let duration: Duration
    let clock: any Clock<Duration>

    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var run: TimedRequest<Base.Output>?
            return { isolation in
                let current = try run ?? start(input, isolation: isolation)
                run = current
                return try await current.next(isolation: isolation)
            }
        }
    }

    public var structure: ProviderStructure { .wrapping(base.structure, in: "within \(duration)") }
    public var deliversMany: Bool { base.stream != nil }

    private func start(_ input: Base.Input, isolation: isolated (any Actor)?) throws -> TimedRequest<Base.Output> {
        try Task.checkCancellation()
        guard duration > .zero else { throw DataProviderError.timedOut(after: duration) }
        return TimedRequest(base, input, duration: duration, clock: clock, isolation: isolation)
    }
}

extension DataProvider {
    /// Returns this provider with a time limit for its answer. A stream must end within it.
    ///
    /// When the time is over, the provider is cancelled and the request fails at once with
    /// ``DataProviderError/timedOut(after:)``, after the values that came in time. A provider that ignores its
    /// cancellation is not awaited, and its answer is discarded. Cancelling the request cancels the provider and ends
    /// the request at once. On an actor, an answer in the caller's turn is returned without a suspension.
    ///
    /// With a duration of zero or less every request fails, and the provider is not asked.
    ///
    /// The provider runs in a task of its own, on the caller's actor. Values of a stream are kept until they are read.
    public func timeout(
        _ duration: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> TimeoutDataProvider<Self> {
        TimeoutDataProvider(base: self, duration: duration, clock: clock)
    }
}
