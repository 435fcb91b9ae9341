/// A provider with a time limit. Made by ``DataProvider/timeout(_:clock:)``.
public struct TimeoutDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let duration: Duration
    private let clock: any Clock<Duration>

    init(_ base: Base, duration: Duration, clock: any Clock<Duration>) {
        self.base = base
        self.duration = duration
        self.clock = clock
    }

    /// Makes a request of the base, and throws ``DataProviderError/timedOut(after:)`` if no answer comes in time.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await last(input, isolation: #isolation)
    }

    /// The values of the base, which must end in time.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in TimeoutCursor(provider: self, input: input) }
    }

    /// The base, with its time limit.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "within \(duration)") }

    /// True if the base delivers many values.
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
        TimeoutDataProvider(self, duration: duration, clock: clock)
    }
}
