/// A hash table that knows the order in which its entries were used, and the order in which they were written. Every
/// operation takes the same time, however many there are.
///
/// The hash is computed once, by the caller, outside of any lock.
@usableFromInline
struct RecencyTable<Key: Hashable, Payload> {
    @usableFromInline
    struct Slot {
        @usableFromInline let hash: Int
        @usableFromInline let key: Key
        @usableFromInline var payload: Payload
    }

    /// A place in the two orders.
    @usableFromInline
    struct Links {
        /// Used before this one, and after it.
        @usableFromInline var less: Int32 = -1
        @usableFromInline var more: Int32 = -1
        /// Written before this one, and after it.
        @usableFromInline var older: Int32 = -1
        @usableFromInline var newer: Int32 = -1
        /// When it was used, in a count that tables may share.
        @usableFromInline var use: UInt64 = 0
    }

    /// Stands for no place.
    private static var none: Int32 { -1 }

    /// Where the slot of a hash is: an open table with linear probing, of a power of two, at most half full.
    @usableFromInline var buckets: [Int32] = Array(repeating: -1, count: 8)
    @usableFromInline var slots: ContiguousArray<Slot?> = []
    @usableFromInline var links: ContiguousArray<Links> = []
    private var free: [Int32] = []

    @usableFromInline var leastUsed: Int32 = -1
    @usableFromInline var mostUsed: Int32 = -1
    private var oldest: Int32 = -1
    private var newest: Int32 = -1

    private(set) var count = 0

    init() {}

    /// When the least recently used entry was used. Nil if there is none.
    var leastUse: UInt64? { leastUsed == Self.none ? nil : links[Int(leastUsed)].use }

    /// The entry that was written first.
    var oldestPayload: Payload? { oldest == Self.none ? nil : slots[Int(oldest)]?.payload }

    // MARK: Looking

    @inlinable
    func bucket(_ key: Key, _ hash: Int) -> Int? {
        let mask = buckets.count - 1
        var bucket = hash & mask
        while true {
            let slot = buckets[bucket]
            if slot < 0 { return nil }
            if slots[Int(slot)]!.hash == hash, slots[Int(slot)]!.key == key { return bucket }
            bucket = (bucket + 1) & mask
        }
    }

    /// The entry of a key, which is not used by that.
    func payload(_ key: Key, _ hash: Int) -> Payload? {
        bucket(key, hash).flatMap { slots[Int(buckets[$0])]?.payload }
    }

    /// The entry of a key, which is the most recently used from now on.
    @inlinable
    mutating func use(_ key: Key, _ hash: Int, at use: UInt64) -> Payload? {
        guard let bucket = bucket(key, hash) else { return nil }
        let slot = buckets[bucket]
        touch(slot, use)
        return slots[Int(slot)]!.payload
    }

    @inlinable
    mutating func touch(_ slot: Int32, _ use: UInt64) {
        links[Int(slot)].use = use
        guard slot != mostUsed else { return }
        let (less, more) = (links[Int(slot)].less, links[Int(slot)].more)
        if less >= 0 { links[Int(less)].more = more } else { leastUsed = more }
        links[Int(more)].less = less
        links[Int(slot)].less = mostUsed
        links[Int(slot)].more = -1
        links[Int(mostUsed)].more = slot
        mostUsed = slot
    }

    // MARK: Changing

    /// Puts an entry in. Returns the one whose place it takes.
    mutating func insert(_ payload: Payload, _ key: Key, _ hash: Int, at use: UInt64) -> Payload? {
        let old = remove(key, hash)
        if (count + 1) * 2 > buckets.count { grow() }
        let slot = take(Slot(hash: hash, key: key, payload: payload))
        place(slot, hash)
        links[Int(slot)] = Links(less: mostUsed, older: newest, use: use)
        if mostUsed >= 0 { links[Int(mostUsed)].more = slot } else { leastUsed = slot }
        mostUsed = slot
        if newest >= 0 { links[Int(newest)].newer = slot } else { oldest = slot }
        newest = slot
        count += 1
        return old
    }

    /// Takes the entry of a key out.
    mutating func remove(_ key: Key, _ hash: Int) -> Payload? {
        guard let bucket = bucket(key, hash) else { return nil }
        return remove(at: bucket)
    }

    /// Takes the least recently used entry out.
    mutating func removeLeastUsed() -> Payload? {
        remove(slot: leastUsed)
    }

    /// Takes the entry out that was written first.
    mutating func removeOldest() -> Payload? {
        remove(slot: oldest)
    }

    /// Takes the entries out of which something is true.
    mutating func removeAll(where shallGo: (Payload) -> Bool) -> [Payload] {
        var gone: [Payload] = []
        for index in slots.indices {
            if let slot = slots[index], shallGo(slot.payload), let payload = remove(slot.key, slot.hash) {
                gone.append(payload)
            }
        }
        return gone
    }

    private mutating func remove(slot: Int32) -> Payload? {
        guard slot >= 0, let key = slots[Int(slot)]?.key, let hash = slots[Int(slot)]?.hash else { return nil }
        return remove(key, hash)
    }

    private mutating func remove(at bucket: Int) -> Payload? {
        let slot = buckets[bucket]
        unlink(slot)
        let payload = slots[Int(slot)]?.payload
        slots[Int(slot)] = nil
        free.append(slot)
        count -= 1
        close(bucket)
        return payload
    }

    private mutating func unlink(_ slot: Int32) {
        let links = links[Int(slot)]
        if links.less >= 0 { self.links[Int(links.less)].more = links.more } else { leastUsed = links.more }
        if links.more >= 0 { self.links[Int(links.more)].less = links.less } else { mostUsed = links.less }
        if links.older >= 0 { self.links[Int(links.older)].newer = links.newer } else { oldest = links.newer }
        if links.newer >= 0 { self.links[Int(links.newer)].older = links.older } else { newest = links.older }
    }

    /// Moves the entries behind a hole up, as far as they may: so none has to be marked as gone.
    private mutating func close(_ bucket: Int) {
        let mask = buckets.count - 1
        var hole = bucket
        var next = (hole + 1) & mask
        while buckets[next] >= 0 {
            let home = (slots[Int(buckets[next])]?.hash ?? 0) & mask
            // It may move if its home isn't between the hole and itself.
            if (next - home) & mask >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        buckets[hole] = Self.none
    }

    private mutating func take(_ slot: Slot) -> Int32 {
        if let index = free.popLast() {
            slots[Int(index)] = slot
            return index
        }
        slots.append(slot)
        links.append(Links())
        return Int32(slots.count - 1)
    }

    private mutating func place(_ slot: Int32, _ hash: Int) {
        let mask = buckets.count - 1
        var bucket = hash & mask
        while buckets[bucket] >= 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = slot
    }

    private mutating func grow() {
        buckets = Array(repeating: Self.none, count: buckets.count * 2)
        for index in slots.indices {
            if let hash = slots[index]?.hash { place(Int32(index), hash) }
        }
    }
}
