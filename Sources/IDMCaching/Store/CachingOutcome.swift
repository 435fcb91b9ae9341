/// What has become of a request or of an entry, so that an app can measure its cache.
///
/// A store's ledger tells each to the hook that it was made with: on any thread, in no promised order between threads,
/// and never under a lock. The hook must be quick; it may use the store.
public enum CachingOutcome<Key: Sendable>: Sendable {
    /// An entry was there, and good enough for the policy. The age is nil if the clock was set since it was written.
    case hit(Key, age: Duration?)
    /// An entry was there, too old for the policy.
    case stale(Key, age: Duration?)
    /// No entry was there.
    case miss(Key)
    /// A request shared one that was on its way already.
    case joined(Key)
    /// An answer was written.
    case written(Key)
    /// An answer was not written: the key, one of its tags or everything was invalidated after it had been asked for,
    /// or a newer answer was there first.
    case dropped(Key)
    /// Entries had to go, or had expired. A disk cache doesn't know their keys.
    case evicted(count: Int, EvictionReason)
    /// An entry could not be used, and was moved aside. The key is nil if nobody had asked for the entry.
    case damaged(Key?, CacheDamage)
    /// The store failed to read, to write or to clean up. A request never fails over it.
    case failed(Key?, any Error)
}

/// Why entries left a store by themselves.
public enum EvictionReason: Sendable, Hashable {
    /// The bounds of the store were passed.
    case bounds
    /// They were older than the lifetime that the store allows.
    case expired
    /// The system ran out of memory.
    case memoryPressure
}

/// Why an entry on disk could not be used.
public enum CacheDamage: Sendable, Hashable {
    /// Not written by this library.
    case foreign
    /// Written by a newer version of this library.
    case newerVersion(Int)
    /// Shorter or longer than it says, or empty.
    case torn
    /// Its checksum doesn't fit.
    case checksum
    /// It is the entry of another key, in the wrong place.
    case otherKey
    /// Not a plain file: a symbolic link, a folder, a device.
    case notAFile
    /// Whole, but no value could be made from it.
    case undecodable
}
