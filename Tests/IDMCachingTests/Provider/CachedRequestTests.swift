import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMCaching

/// One value is asked for: an entry that is there at once goes a shorter way than the values of a stream.
@Suite("A request to a cached provider", .timeLimit(.ample))
struct CachedRequestTests {
    private static let policies: [CachePolicy] = [
        .cachedThenRemote, .cacheElseRemote(maxAge: .seconds(60)), .cacheElseRemote(maxAge: .seconds(59)),
        .staleWhileRevalidate(maxAge: .seconds(60)), .staleWhileRevalidate(maxAge: .seconds(59)), .remoteElseCache,
        .cacheOnly, .remoteOnly, .refresh,
    ]

    enum Situation: CaseIterable { case filled, empty, clockStepped, failing, failingAndEmpty }

    /// A cache, a provider before it, and what is heard of both.
    private struct World {
        let wall = WallClock()
        let outcomes = Outcomes()
        let keys = Shared<[String]>([])
        let memory: MemoryCache<String, String>
        let provider: CachedDataProvider<StubDataProvider<String, String>, MemoryCache<String, String>>

        init(_ policy: CachePolicy, _ situation: Situation) {
            memory = MemoryCache(countLimit: 10, clock: wall.clock, onOutcome: outcomes.hook())
            let isFailing = situation == .failing || situation == .failingAndEmpty
            let remote = StubDataProvider<String, String> { _ in
                if isFailing { throw Offline() }
                return "new"
            }
            provider = remote.cached(in: memory, policy: policy) { [keys] input in
                keys.value += [input]
                return input
            }
            guard situation != .empty, situation != .failingAndEmpty else { return }
            memory.set("old", for: "key")
            wall.advance(by: .seconds(60))
            if situation == .clockStepped { wall.step(by: .seconds(-30)) }
        }
    }

    @Test(
        "It answers with the last of the values, and tells the hook the same", arguments: policies, Situation.allCases)
    func lastValue(policy: CachePolicy, situation: Situation) async {
        let (one, many) = (World(policy, situation), World(policy, situation))
        var heard: String
        do { heard = try await one.provider.request("key") } catch { heard = "error \(error)" }
        #expect(await many.provider.everything(for: "key").last == heard)
        #expect(one.outcomes.words == many.outcomes.words)
        #expect(one.memory.get("key")?.value == many.memory.get("key")?.value)
    }

    @Test("The key is made once a request, however it is answered", arguments: policies, Situation.allCases)
    func oneKey(policy: CachePolicy, situation: Situation) async {
        let (one, many) = (World(policy, situation), World(policy, situation))
        _ = try? await one.provider.request("key")
        _ = await many.provider.everything(for: "key")
        #expect(one.keys.value == ["key"])
        #expect(many.keys.value == ["key"])
    }

    @Test("A cancelled task is not answered from the cache", arguments: policies)
    func cancelled(policy: CachePolicy) async {
        let world = World(policy, .filled)
        let gate = ControlledDataProvider<Void, Void>(reactsToCancel: false)
        let task = Task {
            try await gate.request()
            return try await world.provider.request("key")
        }
        task.cancel()
        try? await gate.waitForRequest().answer()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("An answer that is on its way into the cache is found by who asks meanwhile, and not the older entry")
    func answerOnItsWay() async throws {
        let world = World(.cacheElseRemote(maxAge: .seconds(60)), .filled)
        let ledger = world.memory.ledger
        let permit = ledger.permit(for: "key")
        let other = ledger.permit(for: "other")
        #expect(permit.answer(ledger.entry("newer")) == nil)
        #expect(try await world.provider.request("key") == "newer")
        withExtendedLifetime((permit, other)) {}
    }

    @Test("However many ask while others write and remove, nobody hears anything older than it has heard before")
    func neverBackwards() async throws {
        let ledger = try await settled {
            let rounds = Volume.of(5_000, normally: 300)
            let latest = Shared(0)
            let memory = MemoryCache<String, Int>(countLimit: 10)
            let provider = ClosureDataProvider<String, Int> { _ in latest.value }
                .cached(in: memory, policy: .cacheElseRemote(maxAge: .seconds(3_600)))
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 1...rounds {
                        latest.value = number
                        if number.isMultiple(of: 3) { memory.remove("key") } else { memory.set(number, for: "key") }
                    }
                }
                for reader in 0..<4 {
                    group.addTask {
                        var heard = 0
                        while heard < rounds {
                            let asked = reader == 0 ? provider.refreshing : provider
                            let value = try await asked.request("key")
                            #expect(value >= heard)
                            heard = max(heard, value)
                            // Where the last write was not heard, since it was a removal, nothing more is to come.
                            if latest.value == rounds { break }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await provider.request("key") == rounds)
            return memory.ledger
        }
        #expect(ledger.isEmpty)
    }

    @Test("What goes on about other keys doesn't keep an entry from being found")
    func othersUnderWay() async throws {
        let world = World(.cacheElseRemote(maxAge: .seconds(60)), .filled)
        let permit = world.memory.ledger.permit(for: "other")
        #expect(!world.memory.ledger.isQuiet(about: "other"))
        #expect(world.memory.ledger.isQuiet(about: "key"))
        #expect(try await world.provider.request("key") == "old")
        withExtendedLifetime(permit) {}
    }

    @Test("Once nothing is under way any more, a look at the ledger costs no lock")
    func quietAgain() async throws {
        let world = World(.remoteOnly, .empty)
        _ = try await settled { try await world.provider.request("key") }
        world.memory.set("value", for: "other")
        let isBusy = world.memory.ledger.isBusy.load(ordering: .relaxed)
        #expect(!isBusy)
    }
}
