import Foundation
import TestSupport
import Testing

@testable import IDMCaching

@Suite("The clock of a cache", .timeLimit(.ample))
struct CacheClockTests {
    private let wall = WallClock()

    @Test("An entry is as old as the time that went by")
    func ages() {
        let clock = wall.clock
        let stamp = clock.stamp()

        #expect(clock.age(of: stamp) == .zero)
        wall.advance(by: .seconds(90))
        #expect(clock.age(of: stamp) == .seconds(90))
    }

    @Test("A step of the clock makes all older stamps worthless, and no later ones", arguments: [-3600, -2, 2, 86_400])
    func steps(seconds: Int) {
        let clock = wall.clock
        let before = clock.stamp()

        wall.step(by: .seconds(seconds))
        #expect(clock.age(of: before) == nil)
        let after = clock.stamp()
        wall.advance(by: .seconds(5))
        #expect(clock.age(of: after) == .seconds(5))
        // Also once the clock has been set right again.
        wall.step(by: .seconds(-seconds))
        #expect(clock.age(of: before) == nil)
        #expect(clock.age(of: after) == nil)
    }

    @Test("A correction of less than a second isn't a step, and doesn't add up to one unseen")
    func corrections() {
        let clock = wall.clock
        let before = clock.stamp()
        wall.advance(by: .seconds(10))
        wall.step(by: .milliseconds(-900))
        #expect(clock.age(of: before) == .milliseconds(9100))
        wall.step(by: .milliseconds(-900))
        #expect(clock.age(of: before) == nil)
    }

    @Test("A stamp from the future has no age, wherever it comes from")
    func future() {
        let clock = wall.clock
        let now = clock.stamp().time

        #expect(clock.age(of: CacheStamp(time: now + .nanoseconds(1), era: 7)) == nil)
        #expect(clock.age(of: CacheStamp(time: now - .seconds(7), era: 7)) == .seconds(7))
    }

    @Test("What another process has written counts until the clock is set, and what was written afterwards counts on")
    func others() {
        let clock = wall.clock
        let theirs = CacheStamp(time: clock.stamp().time, era: 7)
        let ours = clock.stamp()
        #expect(clock.age(of: theirs) == .zero && clock.age(of: ours) == .zero)
        wall.step(by: .seconds(10))
        let later = clock.stamp()
        #expect(clock.age(of: theirs) == nil && clock.age(of: ours) == nil)
        #expect(clock.age(of: CacheStamp(time: later.time, era: later.era)) == .zero)
    }

    @Test(
        "What another process writes after a step counts once the clock is past all that it has shown",
        arguments: [-100, 100])
    func othersAfterwards(seconds: Int) {
        let clock = wall.clock
        wall.advance(by: .seconds(10))
        let early = wall.wall
        wall.step(by: .seconds(seconds))
        let between = clock.stamp().time
        let latest = max(early, between)
        wall.advance(by: .seconds(150))

        #expect(clock.age(of: CacheStamp(time: early, era: 7)) == nil)
        #expect(clock.age(of: CacheStamp(time: between, era: 7)) == nil)
        let late = latest + .seconds(2)
        #expect(clock.age(of: CacheStamp(time: late, era: 7)) == wall.wall - late)
    }

    @Test("After clocks that couldn't be read together, what another process writes counts as soon as they can")
    func othersAfterTrouble() {
        var watch = ClockWatch(wall: .seconds(100), steady: .zero)
        #expect(watch.hasSettled(before: .seconds(101)))
        #expect(watch.step() == 1)
        #expect(!watch.hasSettled(before: .seconds(200)))
        #expect(watch.read(wall: .seconds(150), steady: .seconds(50)) == 1)
        #expect(!watch.hasSettled(before: .seconds(150)))
        #expect(watch.hasSettled(before: .seconds(151)))
    }

    @Test("A clock that is kept right little by little never steps, for however long", arguments: [-1, 1])
    func kept(direction: Int) {
        let clock = wall.clock
        let first = clock.stamp()
        for _ in 0..<20_000 {
            wall.advance(by: .seconds(60))
            wall.step(by: .milliseconds(30 * direction))
            _ = clock.stamp()
        }
        #expect(clock.age(of: first) == wall.wall - first.time)
        // Ten minutes of that in all. What comes at once is a step still.
        wall.step(by: .milliseconds(1_100))
        #expect(clock.age(of: first) == nil)
    }

    @Test(
        "What a clock may have been corrected by while nobody looked is no step, and what goes beyond is",
        arguments: [-1, 1])
    func unseen(direction: Int) {
        let clock = wall.clock
        let first = clock.stamp()
        wall.advance(by: .seconds(72 * 3_600))
        wall.step(by: .milliseconds(72 * 1_800 * direction))
        #expect(clock.age(of: first) == wall.wall - first.time)
        wall.advance(by: .seconds(3_600))
        wall.step(by: .milliseconds((1_800 + 1_100) * direction))
        #expect(clock.age(of: first) == nil)
    }

    @Test("However often a clock is looked at, it follows no step", arguments: [1, 999])
    func looked(milliseconds: Int) {
        let clock = wall.clock
        let first = clock.stamp()
        wall.step(by: .milliseconds(900))
        for _ in 0..<10_000 / milliseconds {
            wall.advance(by: .milliseconds(milliseconds))
            _ = clock.stamp()
        }
        wall.step(by: .milliseconds(110))
        #expect(clock.age(of: first) == nil)
    }

    /// A clock that reads the wall's and the steady time, and is kept waiting in between as soon as `waits` is 1.
    private func keptWaiting(_ waits: Shared<Int>) -> CacheClock {
        CacheClock(
            wall: { [wall] in
                // The thread is put aside for a while.
                if waits.change({ waits in
                    waits -= 1
                    return waits == 0
                }) {
                    defer { wall.advance(by: .seconds(30)) }
                    return wall.wall
                }
                return wall.wall
            }, steady: { [wall] in wall.steady })
    }

    @Test("Whoever is kept waiting as the clock is made, or as it is looked at first, sees no step", arguments: 1...2)
    func keptWaitingAtFirst(look: Int) {
        let clock = keptWaiting(Shared(look))
        let theirs = CacheStamp(time: clock.stamp().time, era: 7)
        wall.advance(by: .seconds(5))
        #expect(clock.age(of: theirs) == .seconds(5))
    }

    @Test("Whoever is kept waiting between the two clocks sees no step, and reads both again")
    func keptWaiting() {
        let waits = Shared(0)
        let clock = keptWaiting(waits)
        let before = clock.stamp()
        waits.value = 1
        let stamp = clock.stamp()
        #expect(stamp.era == before.era && clock.age(of: before) == .seconds(30))
        #expect(clock.age(of: stamp) == .zero)
    }

    @Test("Who has read the clocks before a step, and comes after it was seen, has seen no other step")
    func late() {
        var watch = ClockWatch(wall: .seconds(100), steady: .zero)
        var steps = [watch.read(wall: .seconds(110), steady: .seconds(10))]
        steps.append(watch.read(wall: .seconds(60), steady: .seconds(20)))
        steps.append(watch.read(wall: .seconds(119), steady: .seconds(19)))
        steps.append(watch.read(wall: .seconds(61), steady: .seconds(21)))
        #expect(steps == [0, 1, nil, 1])
    }

    @Test("Clocks that can't be read together let no entry be fresh, and nobody wait")
    func unreadable() {
        let time = Shared(Duration.zero)
        let next: @Sendable () -> Duration = {
            time.change {
                $0 += .seconds(1)
                return $0
            }
        }
        let clock = CacheClock(wall: next, steady: next)
        #expect(clock.age(of: clock.stamp()) == nil)
    }

    @Test("A stamp of the system's clock has an age, and is not far from what others say")
    func system() throws {
        let stamp = CacheClock.system.stamp()
        let others = Duration.seconds(Date().timeIntervalSince1970)

        #expect(try #require(CacheClock.system.age(of: stamp)) >= .zero)
        #expect((others - .seconds(60)...others + .seconds(60)).contains(stamp.time))
    }
}
