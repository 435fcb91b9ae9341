internal import IDMCore
public import Synchronization

/// What keeps a store right while many use it: every ``CacheStore`` owns one.
///
/// The ledger knows which requests are on their way and what was invalidated since they began, so that an older answer
/// never takes the place of a newer one, and nothing that began before an invalidation lands after it. It has the
/// store's clock, and tells the store's hook what becomes of requests and entries. It holds nothing of keys for which
/// nothing is on its way.
public final class CacheLedger<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What the store takes its time from.
    public let clock: CacheClock

    @usableFromInline let onOutcome: (@Sendable (CachingOutcome<Key>) -> Void)?
    private let book = Locked(LedgerBook<Key, CacheEntry<Value>>())
    /// Whether anything is under way. Changed in the lock of the book, and read without it.
    @usableFromInline let isBusy = Atomic(false)

    /// Makes the ledger of a store.
    ///
    /// - Parameters:
    ///   - clock: What the store takes its time from.
    ///   - onOutcome: Hears of everything that becomes of requests and entries. See ``CachingOutcome``.
    public init(clock: CacheClock = .system, onOutcome: (@Sendable (CachingOutcome<Key>) -> Void)? = nil) {
        self.clock = clock
        self.onOutcome = onOutcome
    }

    /// An entry that is written now.
    public func entry(_ value: Value, tags: Set<String> = []) -> CacheEntry<Value> {
        CacheEntry(value, stamp: clock.stamp(), tags: tags)
    }

    /// The right to write an entry of a key, as of now: what is invalidated from here on can't be overwritten with it.
    ///
    /// Taken before the value is asked for, so that the order of the questions decides which answer is the newer one.
    public func permit(for key: Key) -> CachePermit<Key, Value> {
        let now = MachineTime.now
        let number = book.withLock { book in
            isBusy.store(true, ordering: .releasing)
            return book.begin(key, at: now)
        }
        return CachePermit(self, key, number: number)
    }

    // MARK: Invalidation

    // A store's own removal of entries comes after: what lands in between has been asked for later, or is refused.

    /// From here on nothing lands for a key that has begun before.
    public func invalidate(_ key: Key) {
        let now = MachineTime.now
        book.withLock { $0.invalidate(key, at: now) }
    }

    /// From here on nothing lands with a tag that has begun before.
    public func invalidate(tag: String) {
        let now = MachineTime.now
        book.withLock { $0.invalidate(tag: tag, at: now) }
    }

    /// From here on nothing lands that has begun before.
    public func invalidateAll() {
        let now = MachineTime.now
        book.withLock { $0.invalidateAll(at: now) }
    }

    // MARK: What has become of things

    /// Tells the hook, which must not happen under a lock.
    @inlinable
    public func report(_ outcome: @autoclosure () -> CachingOutcome<Key>) {
        onOutcome?(outcome())
    }

    // MARK: For permits and visits

    /// Whether nothing is under way.
    var isEmpty: Bool { book.withLock { $0.isEmpty } }

    /// Whether nothing is under way for a key. Where nothing is under way at all, which is most of the time, it costs a
    /// glance.
    @inlinable
    func isQuiet(about key: Key) -> Bool {
        !isBusy.load(ordering: .acquiring) || !isKnown(key)
    }

    @usableFromInline
    func isKnown(_ key: Key) -> Bool {
        book.withLock { $0.isKnown(key) }
    }

    func enter(_ key: Key) -> Int64 {
        book.withLock { book in
            isBusy.store(true, ordering: .releasing)
            return book.enter(key)
        }
    }

    func leave(_ key: Key) {
        // What comes out is let go of where no lock is held.
        _ = book.withLock { book in
            let leftover = book.leave(key)
            isBusy.store(!book.isEmpty, ordering: .releasing)
            return leftover
        }
    }

    func epoch(_ key: Key, refreshing: Bool) -> Int64 {
        book.withLock { $0.epoch(key, refreshing: refreshing) }
    }

    func answer(_ number: Int64, _ key: Key, _ entry: CacheEntry<Value>) -> CacheEntry<Value>? {
        book.withLock { $0.answer(number, key, entry) }.instead
    }

    func settle(_ number: Int64, _ key: Key, hasLanded: Bool) {
        book.withLock { $0.settle(number, key, hasLanded: hasLanded) }
    }

    func isRevoked(_ number: Int64, _ key: Key, tags: Set<String>) -> Bool {
        book.withLock { $0.isRevoked(number, key, tags: tags) }
    }

    func revoke(_ number: Int64, _ key: Key) {
        book.withLock { $0.revoke(number, key) }
    }

    func beginWrite(_ number: Int64, _ key: Key, _ progress: WriteProgress) {
        book.withLock { $0.beginWrite(number, key, progress) }
    }

    func endWrite(_ number: Int64, _ key: Key, hasFailed: Bool) {
        book.withLock { $0.endWrite(number, key, hasFailed: hasFailed) }
    }

    func superseding(_ number: Int64, _ key: Key) -> WriteProgress? {
        book.withLock { $0.superseding(number, key) }
    }

    func newerWrite(_ key: Key, than number: Int64) -> WriteProgress? {
        book.withLock { $0.newerWrite(key, than: number) }
    }

    /// The newest answer, and when it came, unless it was invalidated.
    func newest(_ key: Key) -> LedgerBook<Key, CacheEntry<Value>>.Answer? {
        book.withLock { $0.newest(key) { $0.tags } }
    }

    /// The newest answer that is known, if it was asked for later than something else.
    func newer(_ key: Key, than number: Int64) -> CacheEntry<Value>? {
        book.withLock { $0.newer(key, than: number) }
    }

    /// What is to be heard by a look, given what it has found, and whether that came during the look.
    func look(
        _ key: Key, since begun: Int64, stored: CacheEntry<Value>?
    ) -> (entry: CacheEntry<Value>, isLater: Bool)? {
        let asked = stored?.asked ?? .max
        let look = book.withLock { $0.look(key, since: begun, stored: stored, asked: asked) { $0.tags } }
        return look.value.map { ($0, look.isLater) }
    }

    func claim(_ number: Int64, _ key: Key, tags: Set<String>) -> Bool {
        book.withLock { $0.claim(number, key, tags: tags) }
    }
}
