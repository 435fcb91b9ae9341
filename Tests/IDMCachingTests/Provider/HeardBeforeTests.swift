import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// A request that begins when somebody has heard a new answer that is still on its way into the store. All of it on one
/// actor, so that whoever hears of an end comes after it.
@Suite("What somebody has heard before a request begins", .timeLimit(.ample))
@MainActor
struct HeardBeforeTests {
    /// A store that answers at once. Something may happen right behind a look, and writes may end when the test says
    /// so.
    private final class WatchedStore: CacheStore {
        let memory = MemoryCache<String, String>(countLimit: 10)
        let afterLook = Shared<(@Sendable () -> Void)?>(nil)
        let writes: ControlledDataProvider<String, Void>?

        init(holding writes: ControlledDataProvider<String, Void>? = nil) {
            self.writes = writes
        }

        var ledger: CacheLedger<String, String> { memory.ledger }
        var answersAtOnce: Bool { true }

        func get(_ key: String) -> CacheEntry<String>? {
            let found = memory.get(key)
            afterLook.change { $0.take() }?()
            return found
        }

        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
            memory.set(entry, for: key, permit: permit)
            try await writes?.request(key)
        }

        func remove(_ key: String) { memory.remove(key) }
        func removeAll(tagged tag: String) { memory.removeAll(tagged: tag) }
        func removeAll() { memory.removeAll() }
    }

    /// A slow store, for whose answer somebody has asked who has heard "new", which is still being written.
    @MainActor
    private struct Scene {
        let store = ControlledStore()
        let remote = ControlledDataProvider<String, String>()
        let old: CacheEntry<String>
        let first: IntegrationTask<String>
        let write: ControlledRequest<String, Void>

        init() async throws {
            old = store.ledger.entry("old")
            first = Integrator(remote.cached(in: store, policy: .remoteOnly)).prepareCall("key").call()
            try await remote.waitForRequest().answer("new")
            write = try await store.writes.waitForRequest()
        }

        /// What a request hears that begins now, and its read.
        func ask(
            _ policy: CachePolicy
        ) async throws -> (heard: Task<[String], Never>, read: ControlledRequest<String, CacheEntry<String>?>) {
            let provider = remote.cached(in: store, policy: policy)
            return (Task { await provider.everything(for: "key") }, try await store.reads.waitForRequest())
        }

        func land() async {
            write.answer()
            await first.finish()
        }
    }

    private nonisolated static let age = Duration.seconds(60)

    @Test(
        "is heard, though the look has found what was there before it landed",
        arguments: [
            CachePolicy.cacheOnly, .cachedThenRemote, .cacheElseRemote(maxAge: age), .staleWhileRevalidate(maxAge: age),
        ])
    func atOnce(policy: CachePolicy) async throws {
        let store = WatchedStore()
        store.memory.set("old", for: "key")
        // Whoever asked earlier and still waits has heard it by now.
        let landing = Shared<CachePermit<String, String>?>(store.ledger.permit(for: "key"))
        let new = store.ledger.entry("new")
        #expect(landing.value?.answer(new) == nil)
        store.afterLook.value = {
            // It lands, and nothing is under way any more.
            let permit = landing.change { $0.take() }
            if let permit { store.memory.set(new, for: "key", permit: permit) }
            permit?.end()
        }
        let provider = StubDataProvider<String, String>("newer").cached(in: store, policy: policy)
        var values = provider.values(for: "key").makeAsyncIterator()
        #expect(try await values.next() == "new")
        #expect(landing.value == nil)
    }

    @Test("is heard, though a slow look has found what was there before it landed")
    func slowly() async throws {
        let scene = try await Scene()
        let (heard, read) = try await scene.ask(.cacheOnly)
        await scene.land()
        read.answer(scene.old)
        #expect(await heard.value == ["new"])
        #expect(scene.store.ledger.isEmpty)
    }

    @Test("is heard, though the provider has failed before the look has found what was there")
    func slowlyAndOffline() async throws {
        let ledger = try await settled {
            let scene = try await Scene()
            let (heard, read) = try await scene.ask(.cachedThenRemote)
            let request = try await scene.remote.waitForRequest()
            request.fail(Offline())
            try await request.waitUntilEnded()
            await scene.land()
            read.answer(scene.old)
            #expect(await heard.value == ["new", "error offline"])
            return scene.store.ledger
        }
        #expect(ledger.isEmpty)
    }

    @Test("is heard, though the look fails")
    func brokenLook() async throws {
        let scene = try await Scene()
        let (heard, read) = try await scene.ask(.cacheOnly)
        read.fail(Offline())
        #expect(await heard.value == ["new"])
        await scene.land()
        #expect(scene.store.ledger.isEmpty)
    }

    @Test("isn't followed by what the store had before, when an invalidation is still at its work")
    func invalidated() async throws {
        let scene = try await Scene()
        // Known, and nothing is removed yet.
        scene.store.ledger.invalidate("key")
        let (heard, read) = try await scene.ask(.cacheOnly)
        read.answer(scene.old)
        #expect(await heard.value == ["error \(CachingError.noEntry)"])
        await scene.land()
        #expect(scene.store.ledger.isEmpty)
    }

    @Test("isn't followed by what the store had before, when the tag is invalidated that it alone bore")
    func tagInvalidated() async throws {
        let ledger = try await settled {
            let outcomes = Outcomes()
            let store = ControlledStore(outcomes)
            store.memory.set("old", for: "key")
            let remote = ControlledDataProvider<String, String>()
            let provider = remote.cached(in: store, policy: .remoteOnly, tags: { _, _ in ["new"] })
            let first = Task { try await provider.request("key") }
            try await remote.waitForRequest().answer("new")
            let write = try await store.writes.waitForRequest()
            try await store.invalidate(tag: "new")
            #expect(store.memory.get("key")?.value == "old")
            write.answer()
            #expect(try await first.value == "new")
            #expect(store.memory.get("key") == nil && outcomes.words == ["dropped key"])
            return store.ledger
        }
        #expect(ledger.isEmpty)
    }

    /// A store that keeps its entries itself, and doesn't write before the test lets it.
    private final class OwnStore: CacheStore {
        let ledger = CacheLedger<String, String>()
        let entries = Shared<[String: CacheEntry<String>]>([:])
        let writes = ControlledDataProvider<String, Void>(reactsToCancel: false)
        /// Where an entry was removed by its key.
        let isOnMain = Shared<Bool?>(nil)

        func get(_ key: String) -> CacheEntry<String>? { entries.value[key] }

        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
            try await writes.request(key)
            entries.change { if permit.claim(entry) { $0[key] = entry } }
        }

        func remove(_ key: String) async {
            isOnMain.value = #isolation === MainActor.shared
            entries.change { $0[key] = nil }
        }

        func removeAll(tagged tag: String) { entries.change { $0 = $0.filter { !$0.value.tags.contains(tag) } } }
        func removeAll() { entries.value = [:] }
    }

    @Test("isn't followed by what any other store had before, when the tag is invalidated that it alone bore")
    @MainActor
    func tagInvalidatedElsewhere() async throws {
        let store = OwnStore()
        store.entries.value["key"] = store.ledger.entry("old")
        let remote = ControlledDataProvider<String, String>()
        let provider = remote.cached(in: store, policy: .remoteOnly, tags: { _, _ in ["new"] })
        let first = Task { try await provider.request("key") }
        try await remote.waitForRequest().answer("new")
        let write = try await store.writes.waitForRequest()
        try await store.invalidate(tag: "new")
        #expect(store.entries.value["key"]?.value == "old")
        write.answer()
        #expect(try await first.value == "new")
        #expect(store.entries.value["key"] == nil)
        // It was written from here, and nobody has left for what that brings about.
        #expect(store.isOnMain.value == true)
    }

    @Test("isn't followed by what memory had before, when the tag is invalidated as it is written")
    func tagInvalidatedInMemory() {
        let itself = Shared<MemoryCache<String, String>?>(nil)
        let store = MemoryCache<String, String>(costLimit: 10) { _ in
            itself.value?.removeAll(tagged: "new")
            return 1
        }
        store.set("old", for: "key")
        itself.value = store
        store.set("new", for: "key", tags: ["new"])
        itself.value = nil
        #expect(store.get("key") == nil && store.ledger.isEmpty)
    }

    @Test(
        "is read anew once the provider has failed, with its age of then, unless it was invalidated since",
        arguments: [false, true])
    func overtaken(isInvalidated: Bool) async throws {
        let ledger = try await settled {
            let clock = ManualClock()
            let outcomes = Outcomes()
            let store = ControlledStore(clock: CacheClock(clock), outcomes)
            let remote = ControlledDataProvider<String, String>()
            let labelled = remote.cached(in: store).labelled()
            let second = Task {
                var words: [String] = []
                do {
                    for try await value in labelled.values(for: "key") {
                        words.append("\(value.value) \(value.source)")
                    }
                } catch { words.append("\(error)") }
                return words
            }
            let read = try await store.reads.waitForRequest()
            let request = try await remote.waitForRequest()
            // Somebody asks and hears while the store is read.
            async let saved: Void = store.write("saved", for: "key")
            try await store.writes.waitForRequest().answer()
            try await saved
            read.answer(nil)
            try await outcomes.hear("miss key")
            await clock.advance(by: .seconds(30))
            if isInvalidated { try await store.invalidate("key") }
            request.fail(Offline())
            try await store.reads.waitForRequest().answer(store.memory.get("key"))
            #expect(
                await second.value == (isInvalidated ? [] : ["saved cache(age: Optional(30.0 seconds))"]) + ["offline"])
            return store.ledger
        }
        #expect(ledger.isEmpty)
    }

    @Test("is asked for anew by who comes back to it when it is too old")
    func tooOldMeanwhile() async throws {
        let clock = ManualClock()
        let store = MemoryCache<String, String>(countLimit: 10, clock: CacheClock(clock))
        let remote = StubDataProvider<String, String>("new")
        store.set("old", for: "key")
        await clock.advance(by: .seconds(100))
        var values = remote.cached(in: store, policy: .staleWhileRevalidate(maxAge: Self.age)).values(for: "key")
            .makeAsyncIterator()
        #expect(try await values.next() == "old")
        store.set("saved", for: "key")
        await clock.advance(by: .seconds(61))
        #expect(try await values.next() == "new")
        #expect(remote.requestCount == 1)
    }

    @Test("is heard, though the request joins one that was answered before", arguments: [false, true])
    func answeredFlight(isRefresh: Bool) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let ledger = try await settled {
            let writes = ControlledDataProvider<String, Void>()
            let store = WatchedStore(holding: writes)
            let remote = ControlledDataProvider<String, String>()
            let provider = remote.cached(in: store, policy: .remoteOnly)
            let first = Task { try await provider.request("key") }
            try await remote.waitForRequest().answer("old")
            let write = try await writes.waitForRequest()
            store.memory.set("saved", for: "key")

            // Has joined when it first suspends, unless it is a refresh: that asks for itself.
            let second = Task.immediate { try await (isRefresh ? provider.refreshing : provider).request("key") }
            if isRefresh {
                try await remote.waitForRequest().answer("newer")
                try await writes.waitForRequest().answer()
            }
            write.answer()
            #expect(try await second.value == (isRefresh ? "newer" : "saved"))
            _ = try await first.value
            #expect(remote.requestCount == (isRefresh ? 2 : 1))
            #expect(store.memory.get("key")?.value == (isRefresh ? "newer" : "saved"))
            return store.ledger
        }
        #expect(ledger.isEmpty)
    }

    @Test("is forgotten when all is over, though somebody keeps what they have walked through")
    func keptIterator() async throws {
        let store = MemoryCache<String, String>(countLimit: 10)
        let provider = StubDataProvider<String, String>("new").cached(in: store, policy: .cacheOnly)
        var values = provider.values(for: "key").makeAsyncIterator()
        await #expect(throws: CachingError.self) { try await values.next() }
        #expect(store.ledger.isEmpty)
        #expect(try await values.next() == nil)
    }
}
