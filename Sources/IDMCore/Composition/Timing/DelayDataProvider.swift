/// A provider that waits before it asks. Made by ``DataProvider/delay(_:clock:)``.
public struct DelayDataProvider<Base: DataProvider>: StreamDataProvider {
    private let base: Base
    private let duration: Duration
    private let clock: any Clock<Duration>

    /// Makes a provider that asks the base after some time.
    public init(_ base: Base, duration: Duration, clock: any Clock<Duration> = ContinuousClock()) {
        self.base = base
        self.duration = duration
        self.clock = clock
    }

    /// Waits, then asks the base.
    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await clock.pause(for: duration)
        return try await base.request(input)
    }

    /// The values of the base, which is asked after some time.
    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            DelayCursor(
                duration: duration, clock: clock, values: ProviderValues(of: base, for: input).makeAsyncIterator())
        }
    }

    /// The base, with the wait before it.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "after \(duration)") }

    /// Whether the base delivers many values.
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
    /// This provider, asked after some time. The answer itself isn't held up, nor are the values of a stream.
    ///
    /// Cancelling during the wait ends the request at once, and the provider isn't asked. No time, or less, is no wait.
    public func delay(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) -> DelayDataProvider<Self> {
        DelayDataProvider(self, duration: duration, clock: clock)
    }
}
