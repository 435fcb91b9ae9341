internal import IDMCore

/// A store that removes what a refused entry would have replaced, in the lock in which it refuses that. Every other one
/// has to be asked for it, also one that has such stores for its layers: it may keep entries beside them.
protocol ClearingStore: CacheStore, AnyObject {}

/// Tells a removal that comes of a refusal from one that a user has asked for. While a store is asked to remove what a
/// refused entry would have replaced, those of its layers that have done so already are let off.
///
/// Each is let off once, and for the one key. Another removal there would lose what has landed since, and keep out what
/// was asked for since.
final class Clearing: Sendable {
    @TaskLocal static var current: Clearing?

    private let key: any Hashable & Sendable
    private let layers: Locked<Set<ObjectIdentifier>>

    init(_ key: some Hashable & Sendable, doneBy layers: Set<ObjectIdentifier>) {
        self.key = key
        self.layers = Locked(layers)
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
