import IDMCaching

/// A clock on the wall that a test sets, beside one that only moves on.
final class WallClock: Sendable {
    private let times = Shared((wall: Duration.seconds(1_000_000), steady: Duration.zero))

    /// The clock that a store takes.
    var clock: CacheClock {
        CacheClock(wall: { self.times.value.wall }, steady: { self.times.value.steady })
    }

    var wall: Duration { times.value.wall }
    var steady: Duration { times.value.steady }

    /// Time goes by.
    func advance(by duration: Duration) {
        times.change { $0 = ($0.wall + duration, $0.steady + duration) }
    }

    /// Somebody sets the clock.
    func step(by duration: Duration) {
        times.change { $0.wall += duration }
    }
}
