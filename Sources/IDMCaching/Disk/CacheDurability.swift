/// What an entry on disk survives, once it was written.
public enum CacheDurability: Sendable, Hashable {
    /// That the process is killed. What was written last may be lost if the power goes, and is a miss then.
    case process
    /// That the power goes, too: each write waits for the disk.
    case power
}
