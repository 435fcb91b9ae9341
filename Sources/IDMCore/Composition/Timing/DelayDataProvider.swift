/// A provider whose requests start after a wait. Made by ``DataProvider/delay(_:clock:)``.
public struct DelayDataProvider<Base: DataProvider>: StreamDataProvider {
    let base: Base
    let duration: Duration
    let clock: any Clock<Duration>

    public func request(_ input: Base.Input) async throws -> Base.Output {
        try await clock.pause(for: duration)
        return try await base.request(input)
    }

    public func values(for input: Base.Input) -> ProviderValues<Base.Output> {
        ProviderValues { [self] in
            var values: ProviderValues<Base.Output>.Iterator?
            return { isolation in
                if values == nil {
                    try await clock.pause(for: duration)
                    values = ProviderValues(of: base, for: input).makeAsyncIterator()
                }
                return try await values?.next(isolation: isolation)
            }
        }
    }

    public var structure: ProviderStructure { .wrapping(base.structure, in: "after \(duration)") }
    public var deliversMany: Bool { base.stream != nil }
}

extension DataProvider {
    /// Returns this provider with a wait before each request. Answers and values of a stream are not delayed.
    ///
    /// Cancelling during the wait ends the request at once, and the provider is not asked. A duration of zero or less is
    /// no wait.
    public func delay(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) -> DelayDataProvider<Self> {
        DelayDataProvider(base: self, duration: duration, clock: clock)
    }
}
