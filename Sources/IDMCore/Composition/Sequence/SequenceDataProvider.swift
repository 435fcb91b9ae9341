/// Two providers, one after another: the output of the first is the input of the second.
///
/// ```swift
/// let cities = CountryProvider() >>>> CitiesProvider() >>>> Cities.self
/// ```
///
/// Each stage runs in the caller's task on the caller's actor. Cancelling the task cancels the stage that runs. The
/// first stage that fails ends the request with its error. A longer chain is a sequence of sequences. It behaves as if it
/// were flat, also in its progress: each of n stages is worth 1/n.
///
/// If a stage delivers many values, so does the sequence: each value of the first goes through the second, in order.
/// ``request(_:)`` sends only the last value of the first through the second, and returns the last value of that.
@frozen
public struct SequenceDataProvider<First: DataProvider, Second: DataProvider>: StreamDataProvider
where First.Output == Second.Input {
    /// The stage that takes the input.
    public let first: First
    /// The stage that gives the output.
    public let second: Second

    // Inlined with the operators: in a chain whose parts the compiler doesn't see, ten stages take 2.9 times as long
    // (benchmark row "sequence of ten").
    @inlinable
    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    @inlinable @inline(__always)
    public func request(_ input: First.Input) async throws -> Second.Output {
        guard AmbientValues.areUsed else { return try await unobserved(input) }
        return try await SideRequests.scope { try await _request(input, reporter: .bound) }
    }

    @inlinable @inline(__always)
    public func _request(
        _ input: First.Input, reporter: IntegrationProgress.Reporter?
    ) async throws -> Second.Output {
        guard let reporter else { return try await unobserved(input) }
        return try await observed(input, by: reporter)
    }

    /// Runs both stages without progress. A single stage is called directly: its `_request` would be a second function
    /// for each stage, through which the compiler doesn't see if the stage is declared in another file.
    @inlinable @inline(__always)
    func unobserved(_ input: First.Input) async throws -> Second.Output {
        let value =
            First._stageCount == 1
            ? try await first.request(input) : try await first._request(input, reporter: nil)
        return Second._stageCount == 1
            ? try await second.request(value) : try await second._request(value, reporter: nil)
    }

    /// Runs both stages, each with its share of the progress.
    @usableFromInline
    func observed(_ input: First.Input, by reporter: IntegrationProgress.Reporter) async throws -> Second.Output {
        let shares = SequenceShares<First, Second>(of: reporter)
        let value = try await first._request(input, reporter: shares.first)
        shares.reportFirstEnd()
        let output = try await second._request(value, reporter: shares.second)
        shares.reportSecondEnd()
        return output
    }

    public func values(for input: First.Input) -> ProviderValues<Second.Output> {
        ProviderValues { [self] in
            var outer = ProviderValues(of: first, for: input).makeAsyncIterator()
            var inner: ProviderValues<Second.Output>.Iterator?
            return { isolation in
                let shares = IntegrationProgress.current.map { SequenceShares<First, Second>(of: $0) }
                while true {
                    let output = try await ambient(shares?.second) { try await inner?.next(isolation: isolation) }
                    if let output {
                        shares?.reportSecondEnd()
                        return output
                    }
                    let value = try await ambient(shares?.first) { try await outer.next(isolation: isolation) }
                    guard let value else { return nil }
                    shares?.reportFirstEnd()
                    inner = ProviderValues(of: second, for: value).makeAsyncIterator()
                }
            }
        }
    }

    public var structure: ProviderStructure { .sequence([first.structure, second.structure]) }
    public var deliversMany: Bool { first.stream != nil || second.stream != nil }

    @inlinable
    public static var _stageCount: Int { First._stageCount + Second._stageCount }
}

/// The shares of the two sides of a sequence in its progress.
private struct SequenceShares<First: DataProvider, Second: DataProvider> {
    let first: IntegrationProgress.Reporter
    let second: IntegrationProgress.Reporter

    init(of whole: IntegrationProgress.Reporter) {
        let (firstCount, secondCount) = (First._stageCount, Second._stageCount)
        first = whole.part(from: 0, count: firstCount, of: firstCount + secondCount)
        second = whole.part(from: firstCount, count: secondCount, of: firstCount + secondCount)
    }

    // A side of several stages has reported its own end.
    func reportFirstEnd() { if First._stageCount == 1 { first.report(fraction: 1) } }

    func reportSecondEnd() { if Second._stageCount == 1 { second.report(fraction: 1) } }
}

/// Runs one side of a sequence with its share of the progress, if a call receives progress.
private func ambient<R>(
    _ reporter: IntegrationProgress.Reporter?, isolation: isolated (any Actor)? = #isolation,
    _ side: () async throws -> R
) async throws -> R {
    guard let reporter else { return try await side() }
    return try await reporter.ambient(side)
}

extension DataProvider {
    /// Returns a provider that sends this one's output to `next`. The same as `self >>>> next`.
    @inlinable
    public func then<Next: DataProvider>(_ next: Next) -> SequenceDataProvider<Self, Next> where Next.Input == Output {
        SequenceDataProvider(self, next)
    }

    /// Returns a provider that sends this one's output to a closure, as a stage of its own. The same as
    /// `self >>>> { … }`.
    @inlinable
    public func then<NewOutput: Sendable>(
        _ body: @escaping @Sendable (Output) async throws -> NewOutput
    ) -> SequenceDataProvider<Self, ClosureDataProvider<Output, NewOutput>> {
        SequenceDataProvider(self, ClosureDataProvider(body))
    }
}
