public import Synchronization

/// A part of a memory cache with a lock of its own, so that not all threads wait for one.
@usableFromInline
final class MemoryShard<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let table = Mutex(RecencyTable<Key, MemoryEntry<Value>>())

    init() {}
}

@usableFromInline
struct MemoryEntry<Value: Sendable>: Sendable {
    @usableFromInline let entry: CacheEntry<Value>
    let cost: Int
}
