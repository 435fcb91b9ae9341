internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What a cache takes its time from.
///
/// Entries outlive the process, so their time is the one on the wall. That clock can be set, and then what it said before
/// means nothing: a step of more than a second, back or forward, makes all entries from before it stale, and so does
/// a time that lies in the future. A step that happens while the process doesn't run is seen only if it leaves entries in
/// the future. No entry gets older than its age allows without being looked upon as stale, and none lives for ever.
public final class CacheClock: Sendable {
    /// The clocks of the machine.
    public static let system = CacheClock(wall: { wallTime() }, steady: steadyTime())

    private let wall: @Sendable () -> Duration
    private let steady: @Sendable () -> Duration
    private let watch: Mutex<ClockWatch>
    /// Where this clock's eras begin: far from those of other processes and launches.
    private let firstEra = UInt64.random(in: .min ... .max)

    /// A clock made of two: one that may be set, and one that only ever moves on, by which its steps are seen.
    ///
    /// - Parameters:
    ///   - wall: The time since the first of January 1970, UTC.
    ///   - steady: The time since some beginning.
    public init(wall: @escaping @Sendable () -> Duration, steady: @escaping @Sendable () -> Duration) {
        self.wall = wall
        self.steady = steady
        watch = Mutex(ClockWatch(wall: wall(), steady: steady()))
    }

    /// A clock that moves as another does, and never steps. It starts at the first second of 1970. For tests.
    public convenience init<Ticking: Clock<Duration>>(_ clock: Ticking) {
        let start = clock.now
        let time: @Sendable () -> Duration = { start.duration(to: clock.now) }
        self.init(wall: time, steady: time)
    }

    /// The present.
    public func stamp() -> CacheStamp {
        let (wall, steady) = (wall(), steady())
        let steps = watch.withLock { $0.read(wall: wall, steady: steady) }
        return CacheStamp(time: wall, era: firstEra &+ UInt64(steps))
    }

    /// How old an entry is. Nil if that can't be known: the clock was set since, or the entry comes from the future.
    public func age(of stamp: CacheStamp) -> Duration? {
        age(of: stamp, at: self.stamp())
    }

    func age(of stamp: CacheStamp, at now: CacheStamp) -> Duration? {
        let isOurs = stamp.era &- firstEra <= now.era &- firstEra
        // What others have written counts for as long as the clock has not been set here.
        guard stamp.era == now.era || (!isOurs && now.era == firstEra), stamp.time <= now.time else { return nil }
        return now.time - stamp.time
    }

    private static func wallTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    private static func steadyTime() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
    }
}

/// Sees the steps of a clock that can be set, by one that can't.
struct ClockWatch {
    /// What a clock may be corrected by without being thought to have stepped.
    static let tolerance = Duration.seconds(1)

    private var offset: Duration
    private var steps = 0

    init(wall: Duration, steady: Duration) {
        offset = wall - steady
    }

    /// How many steps there have been.
    mutating func read(wall: Duration, steady: Duration) -> Int {
        let moved = wall - steady - offset
        if moved > Self.tolerance || moved < .zero - Self.tolerance {
            steps += 1
            offset = wall - steady
        }
        return steps
    }
}
