internal import IDMCore

/// Where entries are kept: ``MemoryCache``, ``DiskCache``, or a type of your own over a database.
///
/// The requirements are the plain work of a store. The ledger does the rest, with one word from the store: before it
/// writes an entry, in the same lock or transaction, it asks the permit. Users of a store call ``write(_:for:tags:)``
/// and the `invalidate` methods, which speak with the ledger by themselves.
///
/// A store is used from many tasks at once. What it throws is told to the ledger's hook and never fails a request.
public protocol CacheStore<Key, Value>: Sendable {
    /// What entries are found by.
    associatedtype Key: Hashable & Sendable
    /// What is kept.
    associatedtype Value: Sendable

    /// The ledger of this store: always the same one, made with the store.
    var ledger: CacheLedger<Key, Value> { get }

    /// Whether ``get(_:)`` and ``set(_:for:permit:)`` answer without suspending, as a store in memory does. A request
    /// then reads first and asks the provider afterwards, and may read once more in between; of any other store it does
    /// both at the same time. False unless the store says otherwise.
    var answersAtOnce: Bool { get }

    /// The entry of a key, whatever its age, or nil.
    func get(_ key: Key) async throws -> CacheEntry<Value>?

    /// Writes an entry, in the place of one with the same key, if the permit allows it. Where ``CachePermit/claim(_:)``
    /// is false, nothing is written and nothing is thrown.
    func set(_ entry: CacheEntry<Value>, for key: Key, permit: CachePermit<Key, Value>) async throws

    /// Removes the entry of a key, if there is one. Called by ``invalidate(_:)``, once the ledger knows, and where an
    /// answer was heard and then invalidated before it was written: what it would have replaced is older.
    func remove(_ key: Key) async throws

    /// Removes the entries that bear a tag. Called by ``invalidate(tag:)``, once the ledger knows.
    func removeAll(tagged tag: String) async throws

    /// Removes all entries. Called by ``invalidateAll()``, once the ledger knows.
    func removeAll() async throws
}

extension CacheStore {
    /// False: a store that says nothing else may take its time.
    @inlinable
    public var answersAtOnce: Bool { false }

    /// Writes a value that did not come from a request: one that the user has just saved, or a first stock.
    ///
    /// Counts as asked for at this moment. What was asked for before doesn't overwrite it, and who still waits for that
    /// hears this value in its place, also if the store then fails to write it: it is no less true.
    ///
    /// When this returns, the value is in the store, or one that was written or asked for later, or it was invalidated
    /// since. A write that finds a later one there ends when that one does, and fails with it.
    public func write(_ value: Value, for key: Key, tags: Set<String> = []) async throws {
        while try await !writes(value, key, tags) {}
    }

    /// Writes a value that counts as asked for now. False if it was refused, and it isn't known whether that was right:
    /// it may count as asked for once more, as this write has not ended yet.
    private func writes(_ value: Value, _ key: Key, _ tags: Set<String>) async throws -> Bool {
        let entry = ledger.entry(value, tags: tags)
        let permit = ledger.permit(for: key)
        if !answersAtOnce { permit.beginWrite() }
        if !answersAtOnce, self is any EncodingStore { permit.answerOnceEncoded() } else { _ = permit.answer(entry) }
        try await put(entry, for: key, permit: permit)
        return !permit.isUnordered
    }

    /// Removes the entry of a key. What was asked for before does not land afterwards, and nobody joins it any more.
    public func invalidate(_ key: Key) async throws {
        ledger.invalidate(key)
        try await remove(key)
    }

    /// Removes the entries that bear a tag. What was asked for before does not land with that tag afterwards.
    public func invalidate(tag: String) async throws {
        ledger.invalidate(tag: tag)
        try await removeAll(tagged: tag)
    }

    /// Removes all entries. What was asked for before does not land afterwards.
    public func invalidateAll() async throws {
        ledger.invalidateAll()
        try await removeAll()
    }

    /// Writes what a provider has answered. A failure is told to the hook alone.
    func keep(_ entry: CacheEntry<Value>, for key: Key, permit: CachePermit<Key, Value>) async {
        try? await put(entry, for: key, permit: permit)
    }

    private func put(_ entry: CacheEntry<Value>, for key: Key, permit: CachePermit<Key, Value>) async throws {
        if !answersAtOnce { permit.beginWrite() }
        do {
            try await set(entry, for: key, permit: permit)
            if permit.mustClear(entry), !(self is any ClearingStore) {
                let clearing = Clearing(key, doneBy: permit.refusals)
                defer { clearing.end() }
                try await LibraryTask.binding(Clearing.$current, to: clearing) { try await remove(key) }
            }
            // It was dropped for another one, which may not be everywhere yet.
            try await permit.waitForSuperseding()
        } catch {
            ledger.report(.failed(key, error))
            permit.endWrite(error)
            throw error
        }
        permit.end()
        ledger.report(permit.outcome)
        permit.endWrite()
    }
}

/// A store that encodes an entry before it takes note of the answer: a value that can't be encoded supersedes nothing.
protocol EncodingStore: CacheStore {}
