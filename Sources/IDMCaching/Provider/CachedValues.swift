public import IDMCore

/// The values of one request to a cached provider: the entry, the answer, or both.
public struct CachedValues<Base: DataProvider, Store: CacheStore>: AsyncSequence where Store.Value == Base.Output {
    let provider: CachedDataProvider<Base, Store>
    let input: Base.Input
    let key: Store.Key
    /// Whether it is known that there is more to do than to look into the cache.
    var hasMissed = false

    /// Starts a walk through the values, with a request of its own.
    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: CachedCursor(provider, input, key, hasMissed: hasMissed))
    }

    /// Walks through the values of one request.
    public struct Iterator: AsyncIteratorProtocol {
        var cursor: CachedCursor<Base, Store>

        /// The next value, or nil after the last.
        public mutating func next() async throws -> Base.Output? {
            try await cursor.next(isolation: #isolation)?.value
        }

        /// The next value, or nil after the last. One that is there at once comes without a suspension.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Base.Output? {
            try await cursor.next(isolation: actor)?.value
        }
    }
}

@available(*, unavailable)
extension CachedValues: Sendable {}
