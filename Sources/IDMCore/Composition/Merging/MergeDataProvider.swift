/// A stream of the values of one provider and then of another. Made by ``DataProvider/merged(with:)``.
public struct MergeDataProvider<First: DataProvider, Second: DataProvider>: StreamDataProvider
where Second.Input == First.Input, Second.Output == First.Output {
    let first: First
    let second: Second

    public func values(for input: First.Input) -> ProviderValues<First.Output> {
        ProviderValues { [self] in
            var values = ProviderValues(of: first, for: input).makeAsyncIterator()
            var isSecond = false
            return { isolation in
                if let value = try await values.next(isolation: isolation) { return value }
                guard !isSecond else { return nil }
                isSecond = true
                try Task.checkCancellation()
                values = ProviderValues(of: second, for: input).makeAsyncIterator()
                return try await values.next(isolation: isolation)
            }
        }
    }

    public var structure: ProviderStructure {
        .branches("merged", ["first": first.structure, "then": second.structure])
    }
}

extension DataProvider {
    /// Returns a stream of this provider's value or values, followed by those of `next` for the same input.
    ///
    /// `next` is asked when this provider has ended and its last value has been read. The first failure ends the
    /// stream; add ``fallback(to:)`` where values should follow a failure too. Cancelling cancels the provider that
    /// runs. ``request(_:)`` returns the last value.
    public func merged<Next: DataProvider>(
        with next: Next
    ) -> MergeDataProvider<Self, Next> where Next.Input == Input, Next.Output == Output {
        MergeDataProvider(first: self, second: next)
    }
}
