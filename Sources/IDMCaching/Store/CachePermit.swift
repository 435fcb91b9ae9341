internal import IDMCore
internal import Synchronization

/// The right to write one entry, for as long as nothing has come between. Made by ``CacheLedger/permit(for:)``.
public final class CachePermit<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let ledger: CacheLedger<Key, Value>
    private let key: Key
    /// Its place in the order of questions, of which ``MachineTime`` makes one for all processes.
    let number: Int64
    private let hasLanded = Atomic(false)
    private let layers = Locked<Set<ObjectIdentifier>>([])
    private let progress = Locked<WriteProgress?>(nil)
    private let isUnanswered = Atomic(false)
    private let hasLostOrder = Atomic(false)

    init(_ ledger: CacheLedger<Key, Value>, _ key: Key, number: Int64) {
        self.ledger = ledger
        self.key = key
        self.number = number
    }

    deinit {
        endWrite()
        ledger.leave(key)
    }

    /// Whether the entry may be written now. Good on any thread; asked again, it answers for the state of that moment.
    ///
    /// A store asks inside of the lock or the transaction in which it writes, as the last thing before it does, so that
    /// nothing comes between the answer and the write.
    public func claim(_ entry: CacheEntry<Value>) -> Bool {
        let mayLand = ledger.claim(number, key, tags: entry.tags)
        hasLanded.store(mayLand, ordering: .relaxed)
        return mayLand
    }

    /// The stores of this module that have refused the entry, and have removed what had to go with it.
    var refusals: Set<ObjectIdentifier> { layers.withLock { $0 } }

    /// Takes note that a store has refused the entry, though it may have been allowed to land.
    func refuse(by store: some ClearingStore) {
        hasLanded.store(false, ordering: .relaxed)
        ledger.revoke(number, key)
        let store = ObjectIdentifier(store)
        layers.withLock { _ = $0.insert(store) }
    }

    /// Takes note that the entry was refused because it isn't known what others have done since it was asked for, or
    /// because they have removed it again and again while it was written.
    func loseOrder() {
        hasLostOrder.store(true, ordering: .relaxed)
    }

    /// True if the entry was refused only because its order was lost.
    var isUnordered: Bool { hasLostOrder.load(ordering: .relaxed) && !hasLanded.load(ordering: .relaxed) }

    /// Takes note of an answer that is about to be heard. Returns the one that is to be heard in its place, if a
    /// request that began later was answered before.
    func answer(_ entry: CacheEntry<Value>) -> CacheEntry<Value>? {
        ledger.answer(number, key, entry)
    }

    /// Whether the entry was heard and then invalidated on its way: what it would have replaced is older, and has to
    /// go.
    func mustClear(_ entry: CacheEntry<Value>) -> Bool {
        !hasLanded.load(ordering: .relaxed) && ledger.isRevoked(number, key, tags: entry.tags)
    }

    /// Leaves it to the store to call ``answerIfNeeded(_:)``, once the entry is encoded.
    func answerOnceEncoded() {
        isUnanswered.store(true, ordering: .relaxed)
    }

    /// Takes note of the answer of a write that did not come from a request, unless that was done before.
    func answerIfNeeded(_ entry: CacheEntry<Value>) {
        if isUnanswered.exchange(false, ordering: .relaxed) { _ = answer(entry) }
    }

    /// The store is done with the entry.
    func end() {
        ledger.settle(number, key, hasLanded: hasLanded.load(ordering: .relaxed))
    }

    // MARK: Writes that supersede one another

    /// Lets the writes that this one supersedes, and requests, wait for its end. To be called before it can supersede
    /// any.
    @discardableResult
    func beginWrite() -> WriteProgress {
        let (begun, isNew) = progress.withLock { progress -> (WriteProgress, Bool) in
            if let progress { return (progress, false) }
            let begun = WriteProgress()
            progress = begun
            return (begun, true)
        }
        if isNew { ledger.beginWrite(number, key, begun) }
        return begun
    }

    /// How far the write is. Nil if nothing waits for it.
    var writeProgress: WriteProgress? { progress.withLock { $0 } }

    /// Ends the write for those that wait for it.
    func endWrite(_ error: (any Error)? = nil) {
        guard let progress = progress.withLock({ $0.take() }) else { return }
        ledger.endWrite(number, key, hasFailed: error != nil)
        progress.end(error)
    }

    /// Waits for the end of the write for which this one was refused.
    ///
    /// - Throws: What that write has failed with.
    func waitForSuperseding() async throws {
        guard let writeProgress, !hasLanded.load(ordering: .relaxed) else { return }
        try await ledger.superseding(number, key)?.holdBack(writeProgress)
    }

    /// The write of the answer that was returned in the place of this one's, unless it has ended.
    var newerWrite: WriteProgress? { ledger.newerWrite(key, than: number) }

    /// What became of the entry that was given to the store.
    var outcome: CachingOutcome<Key> {
        hasLanded.load(ordering: .relaxed) ? .written(key) : .dropped(key)
    }
}
