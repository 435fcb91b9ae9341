/// A value in a cache, with the time at which it was written and the tags by which it can be found again.
public struct CacheEntry<Value: Sendable>: Sendable {
    /// What was written.
    public let value: Value
    /// When it was written.
    public let stamp: CacheStamp
    /// The names under which it can be invalidated, besides its key.
    public let tags: Set<String>

    /// Makes an entry. A store makes entries of what it reads; for writing, ``CacheLedger`` stamps them.
    @inlinable
    public init(_ value: Value, stamp: CacheStamp, tags: Set<String> = []) {
        self.value = value
        self.stamp = stamp
        self.tags = tags
    }
}

extension CacheEntry: Equatable where Value: Equatable {}

/// When an entry was written, and how far that can be trusted.
public struct CacheStamp: Sendable, Hashable {
    /// The time on the wall, counted from the first of January 1970, UTC.
    public let time: Duration
    /// Tells which clock has said so, and between which of its steps. A time from before a step says nothing after it.
    public let era: UInt64

    /// A time that was read back from where it was kept. A store that lasts keeps both numbers.
    public init(time: Duration, era: UInt64) {
        self.time = time
        self.era = era
    }
}
