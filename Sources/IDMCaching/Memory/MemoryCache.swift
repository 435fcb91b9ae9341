public import Synchronization

/// Entries in memory, bounded by their number or by what they cost. The least recently used one goes first.
///
/// ```swift
/// let memory = MemoryCache<String, [User]>(countLimit: 100)
/// ```
///
/// Good on any thread; reading and writing take the same time however much is in it. It answers at once, so a request
/// to a provider that is cached in it hears an entry in the turn in which it asks. On platforms that tell of it, the cache
/// is emptied when memory gets short.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: CacheStore {
    public let ledger: CacheLedger<Key, Value>

    @usableFromInline let shards: [MemoryShard<Key, Value>]
    /// How often entries were used, in all shards: the order in which they go.
    @usableFromInline let uses = UseCount()
    @usableFromInline let lifetime: Duration?
    private let room: MemoryRoom
    private let cost: (@Sendable (Value) -> Int)?
    private let pressure = MemoryPressure()

    /// Makes a cache of at most so many entries.
    ///
    /// - Parameters:
    ///   - countLimit: How many entries there may be. With none, or fewer, nothing is kept.
    ///   - lifetime: How old an entry may get. One that is older isn't found any more, and leaves. Nil for any age.
    ///   - clock: What the cache takes its time from.
    ///   - onOutcome: Hears of everything that becomes of requests and entries. See ``CachingOutcome``.
    public convenience init(
        countLimit: Int, lifetime: Duration? = nil, clock: CacheClock = .system,
        onOutcome: (@Sendable (CachingOutcome<Key>) -> Void)? = nil
    ) {
        let ledger = CacheLedger<Key, Value>(clock: clock, onOutcome: onOutcome)
        self.init(MemoryRoom(count: countLimit, cost: .max), lifetime, ledger, cost: nil)
    }

    /// Makes a cache whose entries cost at most so much together.
    ///
    /// - Parameters:
    ///   - costLimit: What the entries may cost together. A single one that costs more isn't kept.
    ///   - countLimit: How many entries there may be. Any number unless it is given.
    ///   - lifetime: How old an entry may get. One that is older isn't found any more, and leaves. Nil for any age.
    ///   - clock: What the cache takes its time from.
    ///   - onOutcome: Hears of everything that becomes of requests and entries. See ``CachingOutcome``.
    ///   - cost: What an entry costs, in whatever unit. Called once, when it is written. Less than nothing counts as
    ///     nothing.
    public convenience init(
        costLimit: Int, countLimit: Int = .max, lifetime: Duration? = nil, clock: CacheClock = .system,
        onOutcome: (@Sendable (CachingOutcome<Key>) -> Void)? = nil, cost: @escaping @Sendable (Value) -> Int
    ) {
        let ledger = CacheLedger<Key, Value>(clock: clock, onOutcome: onOutcome)
        self.init(MemoryRoom(count: countLimit, cost: costLimit), lifetime, ledger, cost: cost)
    }

    private init(
        _ room: MemoryRoom, _ lifetime: Duration?, _ ledger: CacheLedger<Key, Value>,
        cost: (@Sendable (Value) -> Int)?
    ) {
        self.room = room
        self.lifetime = lifetime
        self.ledger = ledger
        self.cost = cost
        shards = (0..<8).map { _ in MemoryShard() }
        pressure.whenShort { [weak self] in self?.relieve() }
    }

    /// True: what is in memory is there at once.
    @inlinable
    public var answersAtOnce: Bool { true }

    /// How many entries there are, among them those that have expired and were not looked for since.
    public var count: Int { room.count }

    /// What the entries cost together.
    public var totalCost: Int { room.cost }

    // MARK: Reading

    /// The entry of a key, which is the most recently used one from now on.
    @inlinable
    public func get(_ key: Key) -> CacheEntry<Value>? {
        let hash = key.hashValue
        let use = uses.next()
        let found = shard(hash).table.withLock { $0.use(key, hash, at: use)?.entry }
        guard let found, lifetime != nil else { return found }
        return fresh(found, key, hash)
    }

    @usableFromInline
    func fresh(_ entry: CacheEntry<Value>, _ key: Key, _ hash: Int) -> CacheEntry<Value>? {
        guard isExpired(entry, at: ledger.clock.stamp()) else { return entry }
        // Unless it was written anew meanwhile.
        let gone = shard(hash).table.withLock { table in
            table.payload(key, hash)?.entry.stamp == entry.stamp ? table.remove(key, hash) : nil
        }
        if let gone { leave([gone], .expired) }
        return nil
    }

    @inlinable
    func shard(_ hash: Int) -> MemoryShard<Key, Value> {
        // The table takes the low bits.
        shards[(hash >> (Int.bitWidth - 16)) & 7]
    }

    private func isExpired(_ entry: CacheEntry<Value>, at now: CacheStamp) -> Bool {
        guard let lifetime else { return false }
        return ledger.clock.age(of: entry.stamp, at: now).map { $0 > lifetime } ?? true
    }

    // MARK: Writing

    /// Writes a value that did not come from a request. See ``CacheStore/write(_:for:tags:)``.
    public func set(_ value: Value, for key: Key, tags: Set<String> = []) {
        let entry = ledger.entry(value, tags: tags)
        let permit = ledger.permit(for: key)
        _ = permit.answer(entry)
        set(entry, for: key, permit: permit)
        permit.end()
        ledger.report(permit.outcome)
    }

    /// Writes an entry, in the place of one with the same key, if the permit allows it.
    public func set(_ entry: CacheEntry<Value>, for key: Key, permit: CachePermit<Key, Value>) {
        put(entry, key) { permit.claim(entry) }
    }

    /// Puts an entry in, if a question that is asked in the lock is answered with yes. Returns the answer.
    @discardableResult
    func put(_ entry: CacheEntry<Value>, _ key: Key, if mayLand: () -> Bool) -> Bool {
        let payload = MemoryEntry(entry: entry, cost: max(0, cost?(entry.value) ?? 0))
        let fits = room.fits(payload.cost)
        let hash = key.hashValue
        let use = uses.next()
        let (hasLanded, old) = shard(hash).table.withLock { table -> (Bool, MemoryEntry<Value>?) in
            guard mayLand() else { return (false, nil) }
            let old = fits ? table.insert(payload, key, hash, at: use) : table.remove(key, hash)
            return (true, old)
        }
        guard hasLanded else { return false }
        // What was there goes out of scope here, where no lock is held.
        room.take((fits ? payload.cost : 0) - (old?.cost ?? 0), count: (fits ? 1 : 0) - (old == nil ? 0 : 1))
        if !fits { ledger.report(.evicted(count: 1, .bounds)) }
        sweep(shard(hash))
        shrink()
        return true
    }

    /// Removes what has expired from a shard, and looks no further than that.
    private func sweep(_ shard: MemoryShard<Key, Value>) {
        guard lifetime != nil else { return }
        let now = ledger.clock.stamp()
        let gone = shard.table.withLock { table in
            var gone: [MemoryEntry<Value>] = []
            while let oldest = table.oldestPayload, isExpired(oldest.entry, at: now) {
                if let entry = table.removeOldest() { gone.append(entry) }
            }
            return gone
        }
        leave(gone, .expired)
    }

    /// Removes the least recently used entries until the rest fits.
    private func shrink() {
        guard room.isOverfull else { return }
        let gone = room.makeRoom {
            let least = shards.compactMap { shard in
                shard.table.withLock { $0.leastUse }.map { (use: $0, shard: shard) }
            }.min { $0.use < $1.use }
            return least?.shard.table.withLock { $0.removeLeastUsed() }
        }
        if !gone.isEmpty { ledger.report(.evicted(count: gone.count, .bounds)) }
    }

    private func leave(_ gone: [MemoryEntry<Value>], _ reason: EvictionReason) {
        guard !gone.isEmpty else { return }
        for entry in gone { room.take(0 - entry.cost, count: -1) }
        ledger.report(.evicted(count: gone.count, reason))
    }

    // MARK: Removing

    /// Removes the entry of a key. What was asked for before does not land afterwards.
    public func remove(_ key: Key) {
        ledger.invalidate(key)
        let hash = key.hashValue
        discard(shard(hash).table.withLock { $0.remove(key, hash) }.map { [$0] } ?? [])
    }

    /// Removes the entries that bear a tag, in a time that grows with all entries. What was asked for before does not
    /// land with that tag afterwards.
    public func removeAll(tagged tag: String) {
        ledger.invalidate(tag: tag)
        for shard in shards {
            discard(shard.table.withLock { $0.removeAll { $0.entry.tags.contains(tag) } })
        }
    }

    /// Removes the entries of which something is true. Returns them, to be let go of where no lock is held.
    func take(where shallGo: @Sendable (CacheEntry<Value>) -> Bool) -> any Sendable {
        let gone = shards.flatMap { shard in shard.table.withLock { $0.removeAll { shallGo($0.entry) } } }
        discard(gone)
        return gone
    }

    /// Removes all entries. What was asked for before does not land afterwards.
    public func removeAll() {
        ledger.invalidateAll()
        discard(takeAll())
    }

    /// Removes the entries that have expired, in a time that grows with their number.
    public func removeExpired() {
        for shard in shards { sweep(shard) }
    }

    /// Gives the memory back. What is on its way lands nevertheless.
    func relieve() {
        leave(takeAll(), .memoryPressure)
    }

    private func takeAll() -> [MemoryEntry<Value>] {
        shards.flatMap { shard in shard.table.withLock { $0.removeAll { _ in true } } }
    }

    private func discard(_ gone: [MemoryEntry<Value>]) {
        for entry in gone { room.take(0 - entry.cost, count: -1) }
    }
}
