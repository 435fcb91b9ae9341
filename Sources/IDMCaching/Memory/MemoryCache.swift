public import IDMCore

/// Entries in memory, bounded by their number or by what they cost. The least recently used one goes first.
///
/// ```swift
/// let memory = MemoryCache<String, [User]>(countLimit: 100)
/// ```
///
/// Good on any thread; reading and writing take the same time however much is in it. It answers at once, so a request
/// to a provider that is cached in it hears an entry in the turn in which it asks. On platforms that tell of it, the
/// cache is emptied when memory gets short.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: CacheStore {
    public let ledger: CacheLedger<Key, Value>

    /// Under one lock. Shared out over eight, a cache that two processors read at once took half as long again: each
    /// lock still goes from one processor to the other, and so does the order of use, which all entries have in common.
    @usableFromInline let stock: Locked<MemoryStock<Key, Value>>
    @usableFromInline let lifetime: Duration?
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
        self.init(MemoryStock(countLimit: countLimit, costLimit: .max), lifetime, ledger, cost: nil)
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
        self.init(MemoryStock(countLimit: countLimit, costLimit: costLimit), lifetime, ledger, cost: cost)
    }

    private init(
        _ stock: MemoryStock<Key, Value>, _ lifetime: Duration?, _ ledger: CacheLedger<Key, Value>,
        cost: (@Sendable (Value) -> Int)?
    ) {
        self.stock = Locked(stock)
        self.lifetime = lifetime
        self.ledger = ledger
        self.cost = cost
        pressure.whenShort { [weak self] in self?.relieve() }
    }

    /// True: what is in memory is there at once.
    @inlinable
    public var answersAtOnce: Bool { true }

    /// How many entries there are, among them those that have expired and were not looked for since.
    public var count: Int { stock.withLock { $0.count } }

    /// What the entries cost together.
    public var totalCost: Int { Int(clamping: stock.withLock { $0.cost }) }

    // MARK: Reading

    /// The entry of a key, which is the most recently used one from now on.
    @inlinable
    public func get(_ key: Key) -> CacheEntry<Value>? {
        // Outside of the lock, where it takes nobody's time but ours.
        let hash = key.hashValue
        let found = stock.withLock { $0.use(key, hash) }
        guard let found, lifetime != nil else { return found }
        return fresh(found, key, hash)
    }

    @usableFromInline
    func fresh(_ entry: CacheEntry<Value>, _ key: Key, _ hash: Int) -> CacheEntry<Value>? {
        guard isExpired(entry, at: ledger.clock.stamp()) else { return entry }
        // Unless it was written anew meanwhile.
        let gone = stock.withLock { $0.remove(key, hash) { $0.stamp == entry.stamp } }
        if let gone { report([gone], .expired) }
        return nil
    }

    private func isExpired(_ entry: CacheEntry<Value>, at now: CacheStamp) -> Bool {
        guard let lifetime else { return false }
        return ledger.clock.age(of: entry.stamp, at: now).map { $0 > lifetime } ?? true
    }

    /// The same for what is looked through: what was written since the clock was read has not expired.
    private func hadExpired(_ entry: CacheEntry<Value>, at now: CacheStamp) -> Bool {
        let isLater = entry.stamp.era == now.era && entry.stamp.time > now.time
        return !isLater && isExpired(entry, at: now)
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
        guard !put(entry, key, if: { permit.claim(entry) }) else { return }
        let hash = key.hashValue
        // Asked in the lock: what lands after that is newer, and stays.
        _ = stock.withLock { permit.mustClear(entry) ? $0.remove(key, hash) : nil }
        permit.refuse(by: self)
    }

    /// Puts an entry in, if a question that is asked in the lock is answered with yes. Returns the answer.
    @discardableResult
    func put(_ entry: CacheEntry<Value>, _ key: Key, if mayLand: () -> Bool) -> Bool {
        let payload = MemoryEntry(entry: entry, cost: max(0, cost?(entry.value) ?? 0))
        let hash = key.hashValue
        let now = lifetime.map { _ in ledger.clock.stamp() }
        // What leaves goes out of scope here, where no lock is held.
        let gone = stock.withLock { stock -> Gone? in
            guard mayLand() else { return nil }
            guard stock.fits(payload) else {
                return Gone(replaced: stock.remove(key, hash), expired: [], evicted: [(key, payload)])
            }
            let replaced = stock.insert(payload, key, hash)
            let expired = now.map { now in stock.removeOldest { hadExpired($0, at: now) } } ?? []
            return Gone(replaced: replaced, expired: expired, evicted: stock.makeRoom())
        }
        guard let gone else { return false }
        report(gone.expired, .expired)
        report(gone.evicted, .bounds)
        return true
    }

    private typealias Element = MemoryStock<Key, Value>.Element

    /// What a write has made leave.
    private struct Gone: Sendable {
        let replaced: Element?
        let expired: [Element]
        let evicted: [Element]
    }

    private func report(_ gone: [Element], _ reason: EvictionReason) {
        if !gone.isEmpty { ledger.report(.evicted(count: gone.count, reason)) }
    }

    // MARK: Removing

    /// Removes the entry of a key. What was asked for before does not land afterwards.
    public func remove(_ key: Key) {
        guard !Clearing.letsOff(self, key) else { return }
        ledger.invalidate(key)
        let hash = key.hashValue
        _ = stock.withLock { $0.remove(key, hash) }
    }

    /// Removes the entries that bear a tag, in a time that grows with all entries. What was asked for before does not
    /// land with that tag afterwards.
    public func removeAll(tagged tag: String) {
        ledger.invalidate(tag: tag)
        _ = stock.withLock { $0.removeAll { $0.tags.contains(tag) } }
    }

    /// Removes all entries. What was asked for before does not land afterwards.
    public func removeAll() {
        ledger.invalidateAll()
        _ = stock.withLock { $0.removeAll { _ in true } }
    }

    /// Removes the entries that have expired, in a time that grows with their number.
    public func removeExpired() {
        guard lifetime != nil else { return }
        let now = ledger.clock.stamp()
        report(stock.withLock { $0.removeOldest { hadExpired($0, at: now) } }, .expired)
    }

    /// Removes the entries of which something is true. Returns them, to be let go of where no lock is held.
    func take(where shallGo: @Sendable (CacheEntry<Value>) -> Bool) -> any Sendable {
        stock.withLock { $0.removeAll(where: shallGo) }
    }

    /// Gives the memory back. What is on its way lands nevertheless.
    func relieve() {
        report(stock.withLock { $0.removeAll { _ in true } }, .memoryPressure)
    }
}

extension MemoryCache: ClearingStore {}
