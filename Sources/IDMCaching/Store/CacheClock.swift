internal import IDMCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What a cache takes its time from.
///
/// Entries outlive the process, so their time is the one on the wall. That clock can be set, and then what it said
/// before means nothing: a step of more than a second, back or forward, makes all entries from before it stale, and so
/// does a time that lies in the future. What other processes write counts after a step once the clock is past all that
/// it has shown before. A step that happens while the process doesn't run leaves nobody to see it: forward, it makes
/// entries older than they are; back, it leaves them in the future, which is stale, or makes them younger by no more
/// than the time since they were written. None lives for ever.
///
/// A clock that is kept right little by little, by no more than half a millisecond in a second, never steps. After a
/// time in which nobody has looked at it, what it may have been corrected by meanwhile isn't a step either.
public final class CacheClock: Sendable {
    /// The clocks of the machine.
    public static let system = CacheClock(wall: { wallTime() }, steady: steadyTime())

    private let wall: @Sendable () -> Duration
    private let steady: @Sendable () -> Duration
    private let watch: Locked<ClockWatch>
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
        var pair: (wall: Duration, steady: Duration)?
        for _ in Self.tries where pair == nil { pair = Self.pair(wall, steady) }
        let (time, before) = pair ?? (wall(), steady())
        watch = Locked(ClockWatch(wall: time, steady: before))
    }

    /// A clock that moves as another does, and never steps. It starts at the first second of 1970. For tests.
    public convenience init<Ticking: Clock<Duration>>(_ clock: Ticking) {
        let start = clock.now
        let time: @Sendable () -> Duration = { start.duration(to: clock.now) }
        self.init(wall: time, steady: time)
    }

    /// The present.
    public func stamp() -> CacheStamp {
        for _ in Self.tries {
            guard let (time, steady) = Self.pair(wall, steady) else { continue }
            if let steps = watch.withLock({ $0.read(wall: time, steady: steady) }) { return stamp(time, steps) }
        }
        return stamp(wall(), watch.withLock { $0.step() })
    }

    /// How often the two are read at most: clocks that are never read together step all the time.
    private static let tries = 0..<8

    /// What the two say at one time. Nil for whoever was kept waiting in between.
    private static func pair(_ wall: () -> Duration, _ steady: () -> Duration) -> (wall: Duration, steady: Duration)? {
        let before = steady()
        let time = wall()
        return steady() - before < ClockWatch.tolerance / 2 ? (time, before) : nil
    }

    private func stamp(_ time: Duration, _ steps: Int) -> CacheStamp {
        CacheStamp(time: time, era: firstEra &+ UInt64(steps))
    }

    /// How old an entry is. Nil if that can't be known: the clock was set since, or the entry comes from the future.
    public func age(of stamp: CacheStamp) -> Duration? {
        age(of: stamp, at: self.stamp())
    }

    func age(of stamp: CacheStamp, at now: CacheStamp) -> Duration? {
        guard stamp.time <= now.time, stamp.era == now.era || isTrusted(stamp, at: now) else { return nil }
        return now.time - stamp.time
    }

    /// Whether another process has written something, and the clock was not set since.
    private func isTrusted(_ stamp: CacheStamp, at now: CacheStamp) -> Bool {
        let isOurs = stamp.era &- firstEra <= now.era &- firstEra
        return !isOurs && (now.era == firstEra || watch.withLock { $0.hasSettled(before: stamp.time) })
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

    /// As what part of the time that goes by a clock is corrected at most, so that this never adds up to a step.
    private static let slowest = 2_000

    private var offset: Duration
    /// When the offset was right.
    private var measured: Duration
    private var steps = 0
    /// When the last step was seen.
    private var stepped: Duration
    /// The latest that the wall has shown until the last step was over.
    private var shown: Duration
    /// Whether that is known.
    private var isSettled = true

    init(wall: Duration, steady: Duration) {
        offset = wall - steady
        measured = steady
        stepped = steady
        shown = wall
    }

    /// How many steps there have been. Nil if the clocks were read before the last of them, and it was seen since.
    mutating func read(wall: Duration, steady: Duration) -> Int? {
        guard steady >= stepped else { return nil }
        let moved = wall - steady - offset
        let most = Self.tolerance + max(steady - measured, .zero) / Self.slowest
        if moved > most || moved < .zero - most {
            steps += 1
            settle(at: max(wall, steady + offset + Self.tolerance))
            offset = wall - steady
            measured = steady
            stepped = steady
        } else {
            if !isSettled { settle(at: wall) }
            follow(moved, until: steady)
        }
        return steps
    }

    /// Takes a slow correction for what it is. A second is soon enough.
    private mutating func follow(_ moved: Duration, until steady: Duration) {
        let elapsed = steady - measured
        guard elapsed >= .seconds(1) else { return }
        let most = elapsed / Self.slowest
        offset += min(max(moved, .zero - most), most)
        measured = steady
    }

    /// It is not known where the clock is.
    mutating func step() -> Int {
        steps += 1
        isSettled = false
        return steps
    }

    private mutating func settle(at wall: Duration) {
        shown = max(shown, wall)
        isSettled = true
    }

    /// Whether the clock shows a time only now, after its last step.
    func hasSettled(before time: Duration) -> Bool { isSettled && time > shown }
}
