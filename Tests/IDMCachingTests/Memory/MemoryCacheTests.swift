import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMCaching

@Suite("A cache in memory", .timeLimit(.ample))
struct MemoryCacheTests {
    private let outcomes = Outcomes()

    @Test("The least recently used entry goes first")
    func leastRecentlyUsed() {
        let cache = MemoryCache<Int, Int>(countLimit: 100, onOutcome: outcomes.hook())
        for key in 0..<100 { cache.set(key, for: key) }
        for key in 0..<50 { _ = cache.get(key) }
        for key in 100..<150 { cache.set(key, for: key) }

        #expect(cache.count == 100)
        #expect((0..<50).allSatisfy { cache.get($0)?.value == $0 })
        #expect((50..<100).allSatisfy { cache.get($0) == nil })
        #expect((100..<150).allSatisfy { cache.get($0)?.value == $0 })
        #expect(outcomes.count("evicted 1 bounds") == 50)
    }

    @Test("What is written while somebody looks for what has expired hasn't", arguments: [false, true])
    func writtenMeanwhile(byWrite: Bool) {
        let (wall, cache, isDue) = (WallClock(), Shared<MemoryCache<Int, Int>?>(nil), Shared(false))
        let clock = CacheClock(
            wall: {
                defer {
                    // The time has been read, and nothing was done with it yet.
                    if isDue.change({ isDue in
                        defer { isDue = false }; return isDue
                    }) {
                        wall.advance(by: .milliseconds(1))
                        cache.value?.set(1, for: 1)
                    }
                }
                return wall.wall
            }, steady: { wall.steady })
        let mortal = MemoryCache<Int, Int>(
            countLimit: 10, lifetime: .seconds(10), clock: clock, onOutcome: outcomes.hook())
        cache.value = mortal
        if byWrite {
            let entry = mortal.ledger.entry(2)
            isDue.value = true
            #expect(mortal.put(entry, 2) { true })
        } else {
            isDue.value = true
            mortal.removeExpired()
        }
        #expect(mortal.get(1)?.value == 1)
        #expect(outcomes.count("evicted 1 expired") == 0)
        // From before the clock was set nothing is fresh, and nothing stands in the way of what comes behind it.
        wall.step(by: .seconds(-5))
        mortal.removeExpired()
        #expect(mortal.count == 0)
        cache.value = nil
    }

    @Test("Entries never cost more than the limit together, and one that costs more alone is not kept")
    func cost() {
        let cache = MemoryCache<String, Int>(costLimit: 10, onOutcome: outcomes.hook()) { $0 }
        cache.set(4, for: "a")
        cache.set(4, for: "b")
        _ = cache.get("a")
        cache.set(5, for: "c")
        #expect(cache.totalCost == 9)
        #expect(cache.get("b") == nil && cache.get("a") != nil)

        cache.set(11, for: "a")
        #expect(cache.get("a") == nil)
        #expect(cache.totalCost == 5)
        cache.set(2, for: "c")
        #expect(cache.totalCost == 2)
        cache.set(-7, for: "d")
        #expect(cache.totalCost == 2 && cache.count == 2)
        cache.set(.max, for: "e")
        #expect(cache.totalCost == 2 && cache.count == 2)
    }

    @Test("A cache without room keeps nothing", arguments: [0, -5])
    func noRoom(limit: Int) {
        let cache = MemoryCache<Int, Int>(countLimit: limit)
        cache.set(1, for: 1)
        #expect(cache.get(1) == nil && cache.count == 0)
    }

    @Test("What has expired isn't found, and leaves: when it is looked for, when others are written, and when told to")
    func expiry() {
        let wall = WallClock()
        let cache = MemoryCache<Int, Int>(
            countLimit: 1_000, lifetime: .seconds(10), clock: wall.clock, onOutcome: outcomes.hook())
        for key in 0..<64 { cache.set(key, for: key) }
        wall.advance(by: .seconds(10))
        #expect(cache.get(3)?.value == 3)
        wall.advance(by: .seconds(1))
        #expect(cache.get(3) == nil)
        #expect(cache.count == 63)
        for key in 100..<200 { cache.set(key, for: key) }
        #expect(cache.count == 100)
        wall.advance(by: .seconds(11))
        cache.removeExpired()
        #expect(cache.count == 0)
        #expect(outcomes.words.contains { $0.hasSuffix("expired") })
    }

    @Test("What has expired goes before what is good has to")
    func expiredFirst() {
        let wall = WallClock()
        let cache = MemoryCache<Int, Int>(
            countLimit: 2, lifetime: .seconds(10), clock: wall.clock, onOutcome: outcomes.hook())
        cache.set(1, for: 1)
        wall.advance(by: .seconds(6))
        cache.set(2, for: 2)
        // Looked for, so that the other one is the least recently used.
        #expect(cache.get(1)?.value == 1)
        wall.advance(by: .seconds(5))
        cache.set(3, for: 3)
        #expect(cache.get(2)?.value == 2 && cache.get(3)?.value == 3 && cache.count == 2)
        #expect(outcomes.words.filter { $0.hasPrefix("evicted") } == ["evicted 1 expired"])
    }

    @Test("A clock that is set makes entries leave that can expire, and no others", arguments: [-100, 100])
    func clockSteps(seconds: Int) {
        let wall = WallClock()
        let mortal = MemoryCache<Int, Int>(countLimit: 10, lifetime: .seconds(500), clock: wall.clock)
        let other = MemoryCache<Int, Int>(countLimit: 10, clock: wall.clock)
        mortal.set(1, for: 1)
        other.set(1, for: 1)
        wall.step(by: .seconds(seconds))
        #expect(mortal.get(1) == nil)
        #expect(other.get(1)?.value == 1)
    }

    @Test("Entries are removed by key, by tag, and all of them")
    func removal() {
        let cache = MemoryCache<Int, Int>(countLimit: 100)
        for key in 0..<20 { cache.set(key, for: key, tags: key.isMultiple(of: 2) ? ["even", "any"] : ["any"]) }
        cache.remove(1)
        #expect(cache.get(1) == nil && cache.count == 19)
        cache.removeAll(tagged: "even")
        #expect(cache.count == 9 && cache.get(2) == nil && cache.get(3)?.value == 3)
        cache.removeAll(tagged: "nobody")
        #expect(cache.count == 9)
        cache.removeAll()
        #expect(cache.count == 0 && cache.get(3) == nil)
        #expect(cache.ledger.isEmpty)
    }

    @Test("A write that was asked for before a removal does not land, one that was asked for afterwards does")
    func permits() {
        let cache = MemoryCache<Int, Int>(countLimit: 10)
        for way in 0..<3 {
            let before = cache.ledger.permit(for: 1)
            switch way {
            case 0: cache.remove(1)
            case 1: cache.removeAll(tagged: "tag")
            default: cache.removeAll()
            }
            cache.set(cache.ledger.entry(1, tags: ["tag"]), for: 1, permit: before)
            #expect(cache.get(1) == nil)
            let after = cache.ledger.permit(for: 1)
            cache.set(cache.ledger.entry(2, tags: ["tag"]), for: 1, permit: after)
            #expect(cache.get(1)?.value == 2)
        }
    }

    @Test("The later question's answer stays, in whichever order two are written")
    func twoWriters() {
        let cache = MemoryCache<Int, String>(countLimit: 10)
        let (older, newer) = (cache.ledger.permit(for: 1), cache.ledger.permit(for: 1))
        cache.set(cache.ledger.entry("newer"), for: 1, permit: newer)
        cache.set(cache.ledger.entry("older"), for: 1, permit: older)
        #expect(cache.get(1)?.value == "newer")
    }

    @Test("Memory that gets short empties the cache, and a write on its way lands nevertheless")
    func pressure() {
        let cache = MemoryCache<Int, Int>(countLimit: 10, onOutcome: outcomes.hook())
        cache.set(1, for: 1)
        let permit = cache.ledger.permit(for: 2)
        cache.relieve()
        #expect(cache.count == 0)
        cache.set(cache.ledger.entry(2), for: 2, permit: permit)
        #expect(cache.get(2)?.value == 2)
        #expect(outcomes.words.contains("evicted 1 memoryPressure"))
    }

    @Test("Many threads read and write: the bounds hold at every moment, and nobody reads what nobody wrote")
    func racing() async {
        let cache = MemoryCache<Int, Int>(costLimit: 64 * 3, countLimit: 64) { _ in 3 }
        await withTaskGroup { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SplitMix(seed: UInt64(seed))
                    for _ in 0..<Volume.of(50_000, normally: 2_000) {
                        let key = Int.random(in: 0..<200, using: &random)
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0...3: cache.set(key * 3, for: key)
                        case 4: cache.remove(key)
                        case 5: #expect(cache.count <= 64 && cache.totalCost <= 64 * 3)
                        default: if let found = cache.get(key) { #expect(found.value == key * 3) }
                        }
                    }
                }
            }
        }
        #expect(cache.count <= 64)
        #expect((0..<200).filter { cache.get($0) != nil }.count == cache.count)
        #expect(cache.ledger.isEmpty)
    }

    @Test("A value that uses the cache when it goes doesn't find a lock held")
    func reentrantValues() {
        final class Nosy: Sendable {
            let cache: MemoryCache<Int, Nosy>
            init(_ cache: MemoryCache<Int, Nosy>) { self.cache = cache }
            deinit { _ = cache.get(1) }
        }
        let cache = MemoryCache<Int, Nosy>(countLimit: 2)
        for key in 0..<10 { cache.set(Nosy(cache), for: key % 4) }
        cache.removeAll(tagged: "x")
        cache.removeAll()
        #expect(cache.count == 0)
    }

    @Test("A key that uses the cache when it goes doesn't find a lock held")
    func reentrantKeys() async throws {
        final class Nosy: Hashable, Sendable {
            let number: Int
            let cache: MemoryCache<Nosy, Int>
            let uses: Shared<Int>

            init(_ number: Int, _ cache: MemoryCache<Nosy, Int>, _ uses: Shared<Int>) {
                (self.number, self.cache, self.uses) = (number, cache, uses)
            }

            deinit {
                uses.value += 1
                _ = cache.count
                _ = cache.ledger.isEmpty
            }

            static func == (left: Nosy, right: Nosy) -> Bool { left.number == right.number }
            func hash(into hasher: inout Hasher) { hasher.combine(number) }
        }

        let cache = MemoryCache<Nosy, Int>(countLimit: 3)
        let uses = Shared(0)
        for number in 0..<12 { cache.set(number, for: Nosy(number % 5, cache, uses), tags: ["\(number % 2)"]) }
        cache.remove(Nosy(4, cache, uses))
        cache.removeAll(tagged: "1")
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(uses.value == 13)

        // The first of two that look at once makes the record, the last one removes it.
        let first = Shared<CachePermit<Nosy, Int>?>(cache.ledger.permit(for: Nosy(7, cache, uses)))
        let second = cache.ledger.permit(for: Nosy(7, cache, uses))
        first.value = nil
        #expect(second.claim(cache.ledger.entry(1)))
        let provider = ClosureDataProvider { (_: Nosy) in 1 }.cached(in: cache, policy: .refresh)
        _ = try await provider.request(Nosy(8, cache, uses))
        cache.removeAll()
        #expect(cache.count == 0)
    }
}
