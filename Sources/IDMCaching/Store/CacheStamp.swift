/// When an entry was written, and how far that can be trusted.
public struct CacheStamp: Sendable, Hashable {
    /// The time on the wall, counted from the first of January 1970, UTC.
    public let time: Duration
    /// Tells which clock has said so, and between which of its steps. A time from before a step says nothing after it.
    public let era: UInt64

    /// A time that was read back from where it was kept. A store that lasts keeps both numbers.
    public init(time: Duration, era: UInt64) {
        self.time = time
        self.era = era
    }
}
