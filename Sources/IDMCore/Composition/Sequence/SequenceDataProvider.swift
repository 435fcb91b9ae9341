/// Two providers, one after the other: the output of the first is the input of the second.
///
/// ```swift
/// let cities = CountryProvider() >>>> CitiesProvider() >>>> Cities.self
/// ```
///
/// Every stage runs on the caller's actor, in the caller's task: cancelling it cancels the stage that runs, and the
/// first stage that fails ends the request with its error. A longer chain is a sequence of sequences and behaves as if
/// it were flat, also in its progress: each of n stages is worth 1/n.
///
/// If a stage delivers many values, so does the sequence: each value of the first goes through the second, in order,
/// one after the other. ``request(_:)`` is the last of them, and sends only the last value of the first through the
/// second.
@frozen
public struct SequenceDataProvider<First: DataProvider, Second: DataProvider>: StreamDataProvider
where First.Output == Second.Input {
    /// The stage that takes the input.
    public let first: First
    /// The stage that gives the output.
    public let second: Second

    /// Makes a sequence of two providers.
    @inlinable
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Runs the first stage, then the second with what the first answered.
    @inlinable @inline(__always)
    public func request(_ input: First.Input) async throws -> Second.Output {
        guard let reporter = IntegrationProgress.Reporter.current else {
            return try await unheard(input)
        }
        return try await _request(input, heardBy: reporter)
    }

    /// Each value of the first stage, sent through the second.
    public func values(for input: First.Input) -> ProviderValues<Second.Output> {
        ProviderValues { [self] in
            SequenceCursor<First, Second>(
                second: second, outer: ProviderValues(of: first, for: input).makeAsyncIterator())
        }
    }

    /// The stages of both sides.
    public var structure: ProviderStructure { .sequence([first.structure, second.structure]) }

    /// Whether one of the stages delivers many values.
    public var deliversMany: Bool { first.stream != nil || second.stream != nil }

    /// The stages of both sides.
    @inlinable
    public static var _stageCount: Int { First._stageCount + Second._stageCount }

    /// The request, heard by a reporter that has been looked up already.
    @inlinable @inline(__always)
    public func _request(
        _ input: First.Input, reporter: IntegrationProgress.Reporter?
    ) async throws -> Second.Output {
        guard let reporter else {
            return try await unheard(input)
        }
        return try await _request(input, heardBy: reporter)
    }

    /// The request that nobody listens to. A single stage is asked directly: its `_request` would be a second function
    /// for each stage, which the compiler doesn't see through if the stage is declared in another file.
    @inlinable @inline(__always)
    func unheard(_ input: First.Input) async throws -> Second.Output {
        let value =
            First._stageCount == 1
            ? try await first.request(input) : try await first._request(input, reporter: nil)
        return Second._stageCount == 1
            ? try await second.request(value) : try await second._request(value, reporter: nil)
    }

    @usableFromInline
    func _request(_ input: First.Input, heardBy reporter: IntegrationProgress.Reporter) async throws -> Second.Output {
        let shares = SequenceShares<First, Second>(of: reporter)
        let value = try await first._request(input, reporter: shares.first)
        shares.firstIsDone()
        let output = try await second._request(value, reporter: shares.second)
        shares.secondIsDone()
        return output
    }
}

/// What each side of a sequence is worth of the whole.
private struct SequenceShares<First: DataProvider, Second: DataProvider> {
    let first: IntegrationProgress.Reporter
    let second: IntegrationProgress.Reporter

    init(of whole: IntegrationProgress.Reporter) {
        let firstCount = First._stageCount
        let secondCount = Second._stageCount
        let count = firstCount + secondCount
        first = whole.part(from: 0, count: firstCount, of: count)
        second = whole.part(from: firstCount, count: secondCount, of: count)
    }

    // A side of several stages has reported its own last one.
    func firstIsDone() {
        if First._stageCount == 1 { first.report(fraction: 1) }
    }

    func secondIsDone() {
        if Second._stageCount == 1 { second.report(fraction: 1) }
    }
}

private struct SequenceCursor<First: DataProvider, Second: DataProvider>: ValueCursor
where First.Output == Second.Input {
    let second: Second
    var outer: ProviderValues<First.Output>.Iterator
    var inner: ProviderValues<Second.Output>.Iterator?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Second.Output? {
        let shares = IntegrationProgress.current.map { SequenceShares<First, Second>(of: $0) }
        while true {
            if let output = try await nextInner(shares, isolation: isolation) {
                shares?.secondIsDone()
                return output
            }
            guard let value = try await nextOuter(shares, isolation: isolation) else { return nil }
            shares?.firstIsDone()
            inner = ProviderValues(of: second, for: value).makeAsyncIterator()
        }
    }

    private mutating func nextInner(
        _ shares: SequenceShares<First, Second>?, isolation: isolated (any Actor)?
    ) async throws -> Second.Output? {
        guard let shares else { return try await inner?.next(isolation: isolation) }
        return try await shares.second.ambient(isolation: isolation) {
            try await inner?.next(isolation: isolation)
        }
    }

    private mutating func nextOuter(
        _ shares: SequenceShares<First, Second>?, isolation: isolated (any Actor)?
    ) async throws -> First.Output? {
        guard let shares else { return try await outer.next(isolation: isolation) }
        return try await shares.first.ambient(isolation: isolation) {
            try await outer.next(isolation: isolation)
        }
    }
}
