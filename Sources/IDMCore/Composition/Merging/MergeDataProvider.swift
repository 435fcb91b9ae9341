/// A stream of the values of one provider and then of another. Made by ``DataProvider/merged(with:)``.
public struct MergeDataProvider<First: DataProvider, Second: DataProvider>: StreamDataProvider
where Second.Input == First.Input, Second.Output == First.Output {
    private let first: First
    private let second: Second

    /// Makes a stream of the values of the first and then of the second provider.
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// The values of the first provider, then those of the second.
    public func values(for input: First.Input) -> ProviderValues<First.Output> {
        ProviderValues { [self] in
            MergeCursor(
                second: second, input: input, values: ProviderValues(of: first, for: input).makeAsyncIterator())
        }
    }

    /// Both, in their order.
    public var structure: ProviderStructure {
        .branches("merged", ["first": first.structure, "then": second.structure])
    }
}

private struct MergeCursor<Second: DataProvider>: ValueCursor {
    let second: Second
    let input: Second.Input
    var values: ProviderValues<Second.Output>.Iterator
    var isSecond = false

    mutating func next(isolation: isolated (any Actor)?) async throws -> Second.Output? {
        if let value = try await values.next(isolation: isolation) { return value }
        guard !isSecond else { return nil }
        isSecond = true
        try Task.checkCancellation()
        values = ProviderValues(of: second, for: input).makeAsyncIterator()
        return try await values.next(isolation: isolation)
    }
}

extension DataProvider {
    /// A stream: this provider's value, or values, and then the other's, for the same input.
    ///
    /// The other one is asked when this one has ended and its last value has been taken. The first failure ends the
    /// stream; put a ``fallback(to:)`` where the other's values should follow a failure as well. Cancelling cancels the
    /// one that runs. ``request(_:)`` is the last value.
    public func merged<Other: DataProvider>(
        with other: Other
    ) -> MergeDataProvider<Self, Other> where Other.Input == Input, Other.Output == Output {
        MergeDataProvider(self, other)
    }
}
