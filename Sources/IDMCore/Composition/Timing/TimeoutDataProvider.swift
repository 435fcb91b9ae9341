/// A provider that has to answer within a time. Made by ``DataProvider/timeout(_:clock:)``.
public struct TimeoutDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let duration: Duration
    private let clock: any Clock<Duration>

    /// Makes a provider that fails when the base takes longer than a time.
    public init(_ base: Base, duration: Duration, clock: any Clock<Duration> = ContinuousClock()) {
        self.base = base
        self.duration = duration
        self.clock = clock
    }

    /// Asks the base, and fails with ``DataProviderError/timedOut(after:)`` if it hasn't answered in time.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await last(input, isolation: #isolation)
    }

    /// The values of the base, the last of which has to be there in time.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in TimeoutCursor(provider: self, input: input) }
    }

    /// The base, with the time that it has.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "within \(duration)") }

    /// Whether the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }

    private func last(_ input: Base.Input, isolation: isolated (any Actor)?) async throws -> Base.Output {
        let run = try start(input, isolation: isolation)
        defer { run.stop() }
        var last: Base.Output?
        while let value = try await run.next(isolation: isolation) { last = value }
        guard let last else { throw DataProviderError.noAnswer }
        return last
    }

    fileprivate func start(_ input: Base.Input, isolation: isolated (any Actor)?) throws -> TimedRequest<Base.Output> {
        try Task.checkCancellation()
        guard duration > .zero else { throw DataProviderError.timedOut(after: duration) }
        return TimedRequest(base, input, duration: duration, clock: clock, isolation: isolation)
    }
}

private struct TimeoutCursor<Base: DataProvider>: ValueCursor {
    let provider: TimeoutDataProvider<Base>
    let input: Base.Input
    var run: TimedRequest<Base.Output>?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Base.Output? {
        let run = try run ?? provider.start(input, isolation: isolation)
        self.run = run
        return try await run.next(isolation: isolation)
    }
}

extension DataProvider {
    /// This provider, with a time within which it has to answer, to the last value if it delivers many.
    ///
    /// When the time is over the provider is cancelled, and the request fails with
    /// ``DataProviderError/timedOut(after:)`` at once, after the values that came in time. A provider that ignores its
    /// cancellation is left behind: it runs on, and nobody hears it. Cancelling the request cancels the provider and
    /// ends the request at once. On an actor an answer that is there at once comes back without a wait.
    ///
    /// With no time at all, or less, every request fails with ``DataProviderError/timedOut(after:)`` and the provider
    /// isn't asked.
    ///
    /// The provider runs in a task of its own, on the caller's actor. Values of a stream that come before they are
    /// asked for are kept.
    public func timeout(
        _ duration: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> TimeoutDataProvider<Self> {
        TimeoutDataProvider(self, duration: duration, clock: clock)
    }
}
