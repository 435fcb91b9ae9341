internal import Synchronization

/// A store that removes what a refused entry would have replaced in the lock in which it refuses it. No other has to be asked
/// for that, also where it has such stores for its layers: it may keep entries beside them.
protocol ClearingStore: CacheStore, AnyObject {}

/// What tells a removal that nobody has asked for from an invalidation: while a store is asked to remove what a refused entry
/// would have replaced, its layers that have done so already have nothing more to do.
///
/// Each of them is let off once, for the one key. To remove what has landed there since would lose it, and to forbid what was
/// asked for since as well.
final class Clearing: Sendable {
    @TaskLocal static var current: Clearing?

    private let key: any Hashable & Sendable
    private let layers: Mutex<Set<ObjectIdentifier>>

    init(_ key: some Hashable & Sendable, doneBy layers: Set<ObjectIdentifier>) {
        self.key = key
        self.layers = Mutex(layers)
    }

    /// Whether a layer is let off the removal that it is asked for.
    static func letsOff<Store: ClearingStore>(_ store: Store, _ key: Store.Key) -> Bool {
        guard let current, current.key as? Store.Key == key else { return false }
        return current.layers.withLock { $0.remove(ObjectIdentifier(store)) != nil }
    }

    /// The store has been asked. What it has started in doing so has nothing to do with it.
    func end() {
        layers.withLock { $0 = [] }
    }
}
