import IDMTesting

/// A clock that stands still until the test moves it.
final class TestClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private struct Sleepers {
        var now = Instant(offset: .zero)
        var deadlines: [Int: Instant] = [:]
        var lastSleeper = 0
    }

    private let sleepers = Watched(Sleepers())

    var now: Instant { sleepers.value.now }
    var minimumResolution: Duration { .zero }

    /// How many sleep now.
    var sleeping: Int { sleepers.value.deadlines.count }

    /// How long each of those who sleep still has to sleep, shortest first.
    var remaining: [Duration] {
        let sleepers = sleepers.value
        return sleepers.deadlines.values.map { sleepers.now.duration(to: $0) }.sorted()
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let id: Int? = sleepers.change { sleepers in
            guard deadline > sleepers.now else { return nil }
            sleepers.lastSleeper += 1
            sleepers.deadlines[sleepers.lastSleeper] = deadline
            return sleepers.lastSleeper
        }
        guard let id else { return }
        defer { sleepers.change { _ = $0.deadlines.removeValue(forKey: id) } }
        try await sleepers.wait { $0.now >= deadline }
    }

    /// Moves the time and wakes whoever is due.
    func advance(by duration: Duration) {
        sleepers.change { $0.now.offset += duration }
    }

    /// Waits until so many sleep, then moves the time and wakes whoever is due.
    func advance(by duration: Duration, whenSleeping count: Int) async throws {
        try await sleepers(count)
        advance(by: duration)
    }

    /// Waits until so many sleep who aren't due.
    func sleepers(_ count: Int) async throws {
        try await sleepers.wait { sleepers in sleepers.deadlines.values.filter { $0 > sleepers.now }.count >= count }
    }

    /// Waits until nobody sleeps any more: all have woken or were cancelled.
    func noSleepers() async throws {
        try await sleepers.wait { $0.deadlines.isEmpty }
    }
}
