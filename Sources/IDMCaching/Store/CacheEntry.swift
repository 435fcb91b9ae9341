/// A value in a cache, with the time at which it was written and the tags by which it can be found again.
public struct CacheEntry<Value: Sendable>: Sendable {
    /// What was written.
    public let value: Value
    /// When it was written.
    public let stamp: CacheStamp
    /// The names under which it can be invalidated, besides its key.
    public let tags: Set<String>
    /// When it was asked for, by ``MachineTime``. The greatest number where that isn't kept: an optional would make every
    /// copy of an entry take longer.
    @usableFromInline let asked: Int64

    /// Makes an entry. A store makes entries of what it reads; for writing, ``CacheLedger`` stamps them.
    @inlinable
    public init(_ value: Value, stamp: CacheStamp, tags: Set<String> = []) {
        self.init(value, stamp: stamp, tags: tags, asked: .max)
    }

    @inlinable
    init(_ value: Value, stamp: CacheStamp, tags: Set<String>, asked: Int64) {
        self.value = value
        self.stamp = stamp
        self.tags = tags
        self.asked = asked
    }
}

extension CacheEntry: Equatable where Value: Equatable {
    @inlinable
    public static func == (left: Self, right: Self) -> Bool {
        left.value == right.value && left.stamp == right.stamp && left.tags == right.tags
    }
}

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
