/// A value in a cache, with the time at which it was written and the tags by which it can be found again.
public struct CacheEntry<Value: Sendable>: Sendable {
    /// What was written.
    public let value: Value
    /// When it was written.
    public let stamp: CacheStamp
    /// The names under which it can be invalidated, besides its key.
    public let tags: Set<String>
    /// When it was asked for, by ``MachineTime``. The greatest number where that isn't kept: an optional would make
    /// every copy of an entry take longer.
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
