public import IDMCore

/// A cached provider whose values say where they come from. Made by ``CachedDataProvider/labelled()``.
public struct LabelledDataProvider<Base: DataProvider, Store: CacheStore>: StreamDataProvider
where Store.Value == Base.Output {
    private let base: CachedDataProvider<Base, Store>

    /// Makes a provider whose values say where they come from.
    public init(_ base: CachedDataProvider<Base, Store>) {
        self.base = base
    }

    /// What the cache has, and what the provider answers, each with its source.
    public func values(for input: Base.Input) -> LabelledValues<Base, Store> {
        LabelledValues(values: base.values(for: input))
    }

    /// The cache and the provider, whose values are labelled.
    public var structure: ProviderStructure { .wrapping(base.structure, in: "labelled") }
}

/// The values of one request to a cached provider, each with its source.
public struct LabelledValues<Base: DataProvider, Store: CacheStore>: AsyncSequence where Store.Value == Base.Output {
    let values: CachedValues<Base, Store>

    /// Starts a walk through the values, with a request of its own.
    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: values.makeAsyncIterator().cursor)
    }

    /// Walks through the values of one request.
    public struct Iterator: AsyncIteratorProtocol {
        var cursor: CachedCursor<Base, Store>

        /// The next value, or nil after the last.
        public mutating func next() async throws -> Sourced<Base.Output>? {
            try await cursor.next(isolation: #isolation)
        }

        /// The next value, or nil after the last. One that is there at once comes without a suspension.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Sourced<Base.Output>? {
            try await cursor.next(isolation: actor)
        }
    }
}

extension LabelledDataProvider where Base.Output: Equatable {
    /// This stream without the answers that equal the entry that was heard before: values are compared, not where they
    /// come from. What is heard keeps its label, so an entry that was found to be right still says how old it was.
    public func removingDuplicates() -> DistinctDataProvider<Self> {
        removingDuplicates { $0.value == $1.value }
    }
}

@available(*, unavailable)
extension LabelledValues: Sendable {}

extension CachedDataProvider {
    /// This provider with each value labelled: from the cache, and how old, or from the provider.
    public func labelled() -> LabelledDataProvider<Base, Store> {
        LabelledDataProvider(self)
    }
}
