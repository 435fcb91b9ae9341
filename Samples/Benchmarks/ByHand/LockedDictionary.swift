import Synchronization

/// What one writes at first for a cache in memory: no bounds, no order, no times.
final class LockedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Mutex<[Key: Value]>([:])

    subscript(key: Key) -> Value? {
        get { values.withLock { $0[key] } }
        set { values.withLock { $0[key] = newValue } }
    }
}
