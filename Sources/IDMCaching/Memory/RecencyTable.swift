/// A hash table that knows the order in which its entries were used, and the order in which they were written. Every
/// operation takes the same time, however many there are.
///
/// The hash is computed once, by the caller, outside of any lock. Whatever leaves is returned, with its key, to be let
/// go of where no lock is held.
@usableFromInline
struct RecencyTable<Key: Hashable, Payload> {
    /// A place in the two orders, and everything else of a slot that costs nothing to copy. A place below nought is
    /// none.
    @usableFromInline
    struct Links: Sendable {
        @usableFromInline var hash = 0
        /// Used before this one, and after it.
        @usableFromInline var less: Int32 = -1
        @usableFromInline var more: Int32 = -1
        /// Written before this one, and after it.
        @usableFromInline var older: Int32 = -1
        @usableFromInline var newer: Int32 = -1
    }

    /// Where a slot is, with as much of its hash as there is room for: to pass by another's slot costs no look at it.
    @usableFromInline
    struct Bucket: Sendable {
        @usableFromInline var slot: Int32 = -1
        @usableFromInline var sketch: UInt32 = 0

        @inlinable
        init() {}

        init(slot: Int32, hash: Int) {
            self.slot = slot
            sketch = Self.sketch(hash)
        }

        /// The bits of a hash by which its place isn't chosen, unless the table is very large.
        @inlinable
        static func sketch(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash >> (Int.bitWidth / 2)) }
    }

    /// Where the slot of a hash is: an open table with linear probing, of a power of two, at most half full.
    @usableFromInline var buckets: ContiguousArray<Bucket> = ContiguousArray(repeating: Bucket(), count: 8)
    @usableFromInline var keys: ContiguousArray<Key?> = []
    @usableFromInline var payloads: ContiguousArray<Payload?> = []
    @usableFromInline var links: ContiguousArray<Links> = []
    private var free: [Int32] = []

    @usableFromInline var leastUsed: Int32 = -1
    @usableFromInline var mostUsed: Int32 = -1
    private var oldest: Int32 = -1
    private var newest: Int32 = -1

    private(set) var count = 0

    /// What has left.
    typealias Element = (key: Key, payload: Payload)

    init() {}

    /// The entry that was written first.
    var oldestPayload: Payload? { oldest < 0 ? nil : payloads[Int(oldest)] }

    // MARK: Looking

    @inlinable
    func bucket(_ key: Key, _ hash: Int) -> Int? {
        let (mask, sketch) = (buckets.count - 1, Bucket.sketch(hash))
        var bucket = hash & mask
        while true {
            let found = buckets[bucket]
            if found.slot < 0 { return nil }
            if found.sketch == sketch, keys[Int(found.slot)] == key { return bucket }
            bucket = (bucket + 1) & mask
        }
    }

    /// The entry of a key, which is not used by that.
    func payload(_ key: Key, _ hash: Int) -> Payload? {
        bucket(key, hash).flatMap { payloads[Int(buckets[$0].slot)] }
    }

    /// The entry of a key, which is the most recently used from now on.
    @inlinable
    mutating func use(_ key: Key, _ hash: Int) -> Payload? {
        guard let bucket = bucket(key, hash) else { return nil }
        let slot = buckets[bucket].slot
        touch(slot)
        return payloads[Int(slot)]
    }

    @inlinable
    mutating func touch(_ slot: Int32) {
        let last = mostUsed
        guard slot != last else { return }
        // In one access: each by itself would look whether the array is shared.
        leastUsed = links.withUnsafeMutableBufferPointer { links in
            let (less, more) = (links[Int(slot)].less, links[Int(slot)].more)
            if less >= 0 { links[Int(less)].more = more }
            links[Int(more)].less = less
            links[Int(slot)].less = last
            links[Int(slot)].more = -1
            links[Int(last)].more = slot
            return less >= 0 ? leastUsed : more
        }
        mostUsed = slot
    }

    // MARK: Changing

    /// Puts an entry in. Returns the one whose place it takes.
    mutating func insert(_ payload: Payload, _ key: Key, _ hash: Int) -> Element? {
        let old = remove(key, hash)
        if (count + 1) * 2 > buckets.count { grow() }
        let slot = takeSlot()
        keys[Int(slot)] = key
        payloads[Int(slot)] = payload
        links[Int(slot)] = Links(hash: hash, less: mostUsed, older: newest)
        place(slot, hash)
        if mostUsed >= 0 { links[Int(mostUsed)].more = slot } else { leastUsed = slot }
        mostUsed = slot
        if newest >= 0 { links[Int(newest)].newer = slot } else { oldest = slot }
        newest = slot
        count += 1
        return old
    }

    /// Takes the entry of a key out.
    mutating func remove(_ key: Key, _ hash: Int) -> Element? {
        guard let bucket = bucket(key, hash) else { return nil }
        return remove(at: bucket)
    }

    /// Takes the least recently used entry out.
    mutating func removeLeastUsed() -> Element? {
        remove(slot: leastUsed)
    }

    /// Takes the entry out that was written first.
    mutating func removeOldest() -> Element? {
        remove(slot: oldest)
    }

    /// Takes the entries out of which something is true.
    mutating func removeAll(where shallGo: (Payload) -> Bool) -> [Element] {
        payloads.indices.compactMap { index in
            payloads[index].map(shallGo) == true ? remove(slot: Int32(index)) : nil
        }
    }

    private mutating func remove(slot: Int32) -> Element? {
        guard slot >= 0 else { return nil }
        // By its place: its key may be one that doesn't equal itself, or not any more.
        let mask = buckets.count - 1
        var bucket = links[Int(slot)].hash & mask
        while buckets[bucket].slot != slot { bucket = (bucket + 1) & mask }
        return remove(at: bucket)
    }

    private mutating func remove(at bucket: Int) -> Element? {
        let slot = buckets[bucket].slot
        unlink(slot)
        free.append(slot)
        count -= 1
        close(bucket)
        guard let key = keys[Int(slot)].take(), let payload = payloads[Int(slot)].take() else { return nil }
        return (key, payload)
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
        while buckets[next].slot >= 0 {
            let home = links[Int(buckets[next].slot)].hash & mask
            // It may move if its home isn't between the hole and itself.
            if (next - home) & mask >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        buckets[hole] = Bucket()
    }

    private mutating func takeSlot() -> Int32 {
        if let slot = free.popLast() { return slot }
        keys.append(nil)
        payloads.append(nil)
        links.append(Links())
        return Int32(links.count - 1)
    }

    private mutating func place(_ slot: Int32, _ hash: Int) {
        let mask = buckets.count - 1
        var bucket = hash & mask
        while buckets[bucket].slot >= 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = Bucket(slot: slot, hash: hash)
    }

    private mutating func grow() {
        buckets = ContiguousArray(repeating: Bucket(), count: buckets.count * 2)
        for index in keys.indices where keys[index] != nil { place(Int32(index), links[index].hash) }
    }
}

extension RecencyTable: Sendable where Key: Sendable, Payload: Sendable {}
