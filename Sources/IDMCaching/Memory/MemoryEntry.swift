/// An entry, and what it costs.
@usableFromInline
struct MemoryEntry<Value: Sendable>: Sendable {
    @usableFromInline let entry: CacheEntry<Value>
    let cost: Int
}
