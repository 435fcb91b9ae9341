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

/// Counts the uses of all entries. An object of its own, with room around the number: every thread writes it, and what
/// stands beside it would be slow to read.
@usableFromInline
final class UseCount: Sendable {
    private let before: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
    @usableFromInline let count = Atomic<UInt64>(0)
    private let after: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)

    init() {}

    @inlinable
    func next() -> UInt64 {
        // Wrapping: an addition that looks for an overflow is a loop, which many threads at once go round in.
        count.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
