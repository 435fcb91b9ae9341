/// What is in a memory cache, and how much room there is for it.
///
/// Whatever leaves is returned, to be let go of where no lock is held.
@usableFromInline
struct MemoryStock<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Value>
    typealias Element = RecencyTable<Key, Entry>.Element

    @usableFromInline var table = RecencyTable<Key, Entry>()
    private(set) var cost: Int64 = 0
    private let countLimit: Int
    private let costLimit: Int64

    init(countLimit: Int, costLimit: Int) {
        self.countLimit = max(0, countLimit)
        // One entry more is in it for a moment.
        self.costLimit = min(Int64(max(0, costLimit)), .max / 2)
    }

    var count: Int { table.count }

    /// The entry of a key, which is the most recently used one from now on.
    @inlinable
    mutating func use(_ key: Key, _ hash: Int) -> CacheEntry<Value>? {
        table.use(key, hash)?.entry
    }

    /// Whether an entry could ever be kept.
    func fits(_ entry: Entry) -> Bool {
        countLimit > 0 && Int64(entry.cost) <= costLimit
    }

    /// Puts an entry in, as the most recently used one. Returns the one whose place it takes.
    mutating func insert(_ entry: Entry, _ key: Key, _ hash: Int) -> Element? {
        let old = table.insert(entry, key, hash)
        cost += Int64(entry.cost) - Int64(old?.payload.cost ?? 0)
        return old
    }

    /// Takes the least recently used entries out until the rest fits.
    mutating func makeRoom() -> [Element] {
        var gone: [Element] = []
        while table.count > countLimit || cost > costLimit, let element = table.removeLeastUsed() {
            cost -= Int64(element.payload.cost)
            gone.append(element)
        }
        return gone
    }

    /// Takes the entry of a key out, if something is true of it.
    mutating func remove(_ key: Key, _ hash: Int, if shallGo: (CacheEntry<Value>) -> Bool = { _ in true }) -> Element? {
        guard let found = table.payload(key, hash), shallGo(found.entry) else { return nil }
        cost -= Int64(found.cost)
        return table.remove(key, hash)
    }

    /// Takes the entries out of which something is true.
    mutating func removeAll(where shallGo: (CacheEntry<Value>) -> Bool) -> [Element] {
        let removed = gone(table.removeAll { shallGo($0.entry) })
        // Gives the room back, too.
        if table.count == 0 { table = RecencyTable() }
        return removed
    }

    /// Takes entries out, in the order in which they were written, up to the first of which something isn't true.
    mutating func removeOldest(while shallGo: (CacheEntry<Value>) -> Bool) -> [Element] {
        var removed: [Element] = []
        while let oldest = table.oldestPayload, shallGo(oldest.entry), let element = table.removeOldest() {
            removed.append(element)
        }
        return gone(removed)
    }

    private mutating func gone(_ elements: [Element]) -> [Element] {
        for element in elements { cost -= Int64(element.payload.cost) }
        return elements
    }
}
