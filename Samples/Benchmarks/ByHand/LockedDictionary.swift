import Synchronization

/// The simplest cache in memory: a dictionary and a lock, without limits, order or expiry.
final class LockedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Mutex<[Key: Value]>([:])

    subscript(key: Key) -> Value? {
        get { values.withLock { $0[key] } }
        set { values.withLock { $0[key] = newValue } }
    }
}
