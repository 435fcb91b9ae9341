import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// A request that begins when somebody has heard a new answer that is still on its way into the store.
@Suite("What somebody has heard before a request begins", .timeLimit(.ample))
struct HeardBeforeTests {
    /// A store that answers at once, and in which something happens right behind a look.
    private final class WatchedStore: CacheStore {
        let memory = MemoryCache<String, String>(countLimit: 10)
        let afterLook = Shared<(@Sendable () -> Void)?>(nil)

        var ledger: CacheLedger<String, String> { memory.ledger }
        var answersAtOnce: Bool { true }

        func get(_ key: String) -> CacheEntry<String>? {
            let found = memory.get(key)
            afterLook.change { $0.take() }?()
            return found
        }

        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) {
            memory.set(entry, for: key, permit: permit)
        }

        func remove(_ key: String) { memory.remove(key) }
        func removeAll(tagged tag: String) { memory.removeAll(tagged: tag) }
        func removeAll() { memory.removeAll() }
    }

    private static let age = Duration.seconds(60)

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
        let store = ControlledStore()
        let remote = ControlledDataProvider<String, String>()
        let old = store.ledger.entry("old")
        let first = Integrator(remote.cached(in: store, policy: .remoteOnly)).prepareCall("key").call()
        try await remote.nextRequest().answer("new")
        let write = try await store.writes.nextRequest()

        let cached = remote.cached(in: store, policy: .cacheOnly)
        let second = Task { await cached.everything(for: "key") }
        let read = try await store.reads.nextRequest()
        write.answer()
        await first.finish()
        read.answer(old)
        #expect(await second.value == ["new"])
        #expect(store.ledger.isEmpty)
    }

    @Test("is heard, though the provider has failed before the look has found what was there")
    func slowlyAndOffline() async throws {
        let store = ControlledStore()
        let remote = ControlledDataProvider<String, String>()
        let old = store.ledger.entry("old")
        let first = Integrator(remote.cached(in: store, policy: .remoteOnly)).prepareCall("key").call()
        try await remote.nextRequest().answer("new")
        let write = try await store.writes.nextRequest()

        let second = Task { await remote.cached(in: store).everything(for: "key") }
        let read = try await store.reads.nextRequest()
        let request = try await remote.nextRequest()
        request.fail(Offline())
        try await request.ended()
        write.answer()
        await first.finish()
        read.answer(old)
        #expect(await second.value == ["new", "error offline"])
        #expect(store.ledger.isEmpty)
    }

    @Test("is heard, though the look fails")
    func brokenLook() async throws {
        let store = ControlledStore()
        let remote = ControlledDataProvider<String, String>()
        let first = Integrator(remote.cached(in: store, policy: .remoteOnly)).prepareCall("key").call()
        try await remote.nextRequest().answer("new")
        let write = try await store.writes.nextRequest()

        let second = Task { await remote.cached(in: store, policy: .cacheOnly).everything(for: "key") }
        try await store.reads.nextRequest().fail(Offline())
        #expect(await second.value == ["new"])
        write.answer()
        await first.finish()
        #expect(store.ledger.isEmpty)
    }

    /// A store that answers at once, save that its writes end when the test says so.
    private final class LingeringStore: CacheStore {
        let memory = MemoryCache<String, String>(countLimit: 10)
        let writes = ControlledDataProvider<String, Void>()

        var ledger: CacheLedger<String, String> { memory.ledger }
        var answersAtOnce: Bool { true }

        func get(_ key: String) -> CacheEntry<String>? { memory.get(key) }

        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
            memory.set(entry, for: key, permit: permit)
            try await writes.request(key)
        }

        func remove(_ key: String) { memory.remove(key) }
        func removeAll(tagged tag: String) { memory.removeAll(tagged: tag) }
        func removeAll() { memory.removeAll() }
    }

    @Test("is heard, though the request joins one that was answered before", arguments: [false, true])
    @MainActor
    func answeredFlight(isRefresh: Bool) async throws {
        let store = LingeringStore()
        let remote = ControlledDataProvider<String, String>()
        let provider = remote.cached(in: store, policy: .remoteOnly)
        let first = Task { try await provider.request("key") }
        try await remote.nextRequest().answer("old")
        let write = try await store.writes.nextRequest()
        store.memory.set("saved", for: "key")

        // Has joined when it first suspends, unless it is a refresh: that asks for itself.
        let second = Task.immediate { try await (isRefresh ? provider.refreshing : provider).request("key") }
        if isRefresh {
            try await remote.nextRequest().answer("newer")
            try await store.writes.nextRequest().answer()
        }
        write.answer()
        #expect(try await second.value == (isRefresh ? "newer" : "saved"))
        _ = try await first.value
        #expect(remote.requestCount == (isRefresh ? 2 : 1))
        #expect(store.memory.get("key")?.value == (isRefresh ? "newer" : "saved"))
        #expect(store.ledger.isEmpty)
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
