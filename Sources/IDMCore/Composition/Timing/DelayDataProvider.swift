/// A provider whose requests start after a wait. Made by ``DataProvider/delay(_:clock:)``.
public struct DelayDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let duration: Duration
    private let clock: any Clock<Duration>

    init(_ base: Base, duration: Duration, clock: any Clock<Duration>) {
        self.base = base
        self.duration = duration
        self.clock = clock
    }

    /// Waits, and makes a request of the base.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await clock.pause(for: duration)
        return try await base.request(input)
    }

    /// The values of the base, requested after the wait.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            DelayCursor(
                duration: duration, clock: clock, values: ProviderValues(of: base, for: input).makeAsyncIterator())
        }
    }

    /// The base, with the length of the wait.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "after \(duration)") }

    /// True if the base delivers many values.
    public var deliversMany: Bool { base.stream != nil }
}

private struct DelayCursor<Output: Sendable>: ValueCursor {
    let duration: Duration
    let clock: any Clock<Duration>
    var values: ProviderValues<Output>.Iterator
    var hasWaited = false

    mutating func next(isolation: isolated (any Actor)?) async throws -> Output? {
        if !hasWaited {
            hasWaited = true
            try await clock.pause(for: duration)
        }
        return try await values.next(isolation: isolation)
    }
}

extension DataProvider {
    /// Returns this provider with a wait before each request. Answers and values of a stream are not delayed.
    ///
    /// Cancelling during the wait ends the request at once, and the provider is not asked. A duration of zero or less is
    /// no wait.
    public func delay(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) -> DelayDataProvider<Self> {
        DelayDataProvider(self, duration: duration, clock: clock)
    }
}
