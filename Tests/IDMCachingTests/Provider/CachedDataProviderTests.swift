import Foundation
import IDMCaching
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A cached provider", .fewAtOnce, .timeLimit(.ample))
struct CachedDataProviderTests {
    private let wall = WallClock()
    private let outcomes = Outcomes()
    private let remote = StubDataProvider<String, String>("new")
    private let broken = StubDataProvider<String, String>(failing: Offline())

    private func memory() -> MemoryCache<String, String> {
        MemoryCache(countLimit: 10, clock: wall.clock, onOutcome: outcomes.hook())
    }

    /// A cache with an entry that is a minute old.
    private func filled() -> MemoryCache<String, String> {
        let cache = memory()
        cache.set("old", for: "key")
        wall.advance(by: .seconds(60))
        return cache
    }

    @Test(
        "What each policy delivers of an entry of a minute",
        arguments: [
            (CachePolicy.cachedThenRemote, ["old", "new"]), (.cacheElseRemote(maxAge: .seconds(60)), ["old"]),
            (.cacheElseRemote(maxAge: .seconds(59)), ["new"]), (.staleWhileRevalidate(maxAge: .seconds(60)), ["old"]),
            (.staleWhileRevalidate(maxAge: .seconds(59)), ["old", "new"]), (.remoteElseCache, ["new"]),
            (.cacheOnly, ["old"]), (.remoteOnly, ["new"]), (.refresh, ["new"]),
        ])
    func policies(policy: CachePolicy, expected: [String]) async {
        let cache = filled()
        #expect(await remote.cached(in: cache, policy: policy).everything(for: "key") == expected)
        #expect(cache.get("key")?.value == expected.last)
    }

    @Test("Over a store in memory, only a policy with two values makes a stream")
    func streams() throws {
        let policies: [CachePolicy] = [
            .cachedThenRemote, .staleWhileRevalidate(maxAge: .seconds(1)), .cacheElseRemote(maxAge: .seconds(1)),
            .remoteElseCache, .cacheOnly, .remoteOnly, .refresh,
        ]
        let folder = try TemporaryFolder()
        let disk = try DiskCache<String, String>(folder: folder.url)
        let streams = policies.filter { remote.cached(in: memory(), policy: $0).deliversMany }
        let streamsOnDisk = policies.filter { remote.cached(in: disk, policy: $0).deliversMany }
        #expect(streams == Array(policies.prefix(2)))
        #expect(streamsOnDisk == policies)
    }

    @Test(
        "What each policy delivers when the provider fails",
        arguments: [
            (CachePolicy.cachedThenRemote, ["old", "error offline"]),
            (.cacheElseRemote(maxAge: .seconds(1)), ["error offline"]),
            (.staleWhileRevalidate(maxAge: .seconds(1)), ["old", "error offline"]), (.remoteElseCache, ["old"]),
            (.remoteOnly, ["error offline"]), (.refresh, ["error offline"]),
        ])
    func failures(policy: CachePolicy, expected: [String]) async {
        let cache = filled()
        #expect(await broken.cached(in: cache, policy: policy).everything(for: "key") == expected)
        #expect(cache.get("key")?.value == "old")
    }

    @Test("The same on disk, where the cache and the provider are asked at the same time")
    func onDisk() async throws {
        let folder = try TemporaryFolder()
        let cache = try DiskCache<String, String>(folder: folder.url)
        let provider = remote.cached(in: cache)
        #expect(try await provider.request("key") == "new")
        // The stream has ended, so the answer is on the disk.
        #expect(await cache.get("key")?.value == "new")
        #expect(await broken.cached(in: cache).everything(for: "key") == ["new", "error offline"])
        #expect(await broken.cached(in: cache, policy: .remoteElseCache).everything(for: "key") == ["new"])
    }

    @Test("Without an entry, cacheOnly fails and asks nobody, and remoteElseCache tells the provider's error")
    func nothing() async {
        let never = StubDataProvider<String, String> { _ in throw Offline() }
        let cache = memory()
        #expect(
            await never.cached(in: cache, policy: .cacheOnly).everything(for: "key")
                == ["error The cache has no entry, and the provider isn't to be asked."])
        #expect(await broken.cached(in: cache, policy: .remoteElseCache).everything(for: "key") == ["error offline"])
    }

    @Test("A cancel is never answered from the cache", arguments: [true, false])
    func cancelIsNoError(isTask: Bool) async {
        let cache = filled()
        let cancelled = ClosureDataProvider<String, String> { _ in
            if isTask { throw CancellationError() }
            throw IntegrationError.cancelled(.superseded)
        }
        let words = await cancelled.cached(in: cache, policy: .remoteElseCache).everything(for: "key")
        #expect(words.count == 1 && words[0].hasPrefix("error"))
    }

    @Test("A clock that is set makes entries stale, never fresh for ever", arguments: [-86_400, 86_400])
    func clockSteps(seconds: Int) async {
        let cache = filled()
        wall.step(by: .seconds(seconds))
        let provider = remote.cached(in: cache, policy: .cacheElseRemote(maxAge: .seconds(1_000)))
        #expect(await provider.everything(for: "key") == ["new"])
        // What was written after the step is as good as ever.
        wall.advance(by: .seconds(999))
        #expect(
            await broken.cached(in: cache, policy: .cacheElseRemote(maxAge: .seconds(1_000)))
                .everything(for: "key") == ["new"])
        #expect(outcomes.words.contains("stale key ?"))
    }

    @Test("An integrator hears the entry through onSuccess, then the answer, in one run")
    @MainActor
    func integrator() async {
        let log = Shared<[String]>([])
        let users = Integrator(remote.cached(in: filled()))
        let task = users.prepareCall("key").heard(in: log).call()
        await task.finish()
        #expect(log.value == ["begin", "old", "new", "completion"])

        log.value = []
        let failing = Integrator(broken.cached(in: filled()))
        await failing.prepareCall("key").heard(in: log).call().finish()
        #expect(log.value == ["begin", "old", "error offline", "completion"])
    }

    @Test("Rule 6: an entry in memory has been heard when call() returns, and so has an answer that needs no wait")
    @MainActor
    func synchrony() async {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let log = Shared<[String]>([])
        let slow = ControlledDataProvider<String, String>()
        let users = Integrator(slow.cached(in: filled()))
        let task = users.prepareCall("key").heard(in: log).call()
        #expect(log.value == ["begin", "old"])
        #expect(slow.requestCount == 1)
        slow.requests[0].answer("new")
        await task.finish()
        #expect(log.value == ["begin", "old", "new", "completion"])

        log.value = []
        let quick = Integrator(ValueDataProvider<String, String>("quick").cached(in: memory()))
        let second = quick.prepareCall("other").heard(in: log).call()
        #expect(log.value == ["begin", "quick", "completion"])
        await second.finish()
    }

    @Test("Rule 6: an entry of a disk cache that is in memory as well has been heard when call() returns")
    @MainActor
    func synchronyOnDisk() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let folder = try TemporaryFolder()
        let cache = try DiskCache<String, String>(folder: folder.url, memoryLimit: 2)
        try await cache.set("old", for: "key")
        let slow = ControlledDataProvider<String, String>()
        let log = Shared<[String]>([])
        let task = Integrator(slow.cached(in: cache)).prepareCall("key").heard(in: log).call()
        #expect(log.value == ["begin", "old"])
        #expect(slow.requestCount == 1)
        slow.requests[0].answer("new")
        await task.finish()
        #expect(log.value == ["begin", "old", "new", "completion"])
    }

    @Test(
        "Two calls for one key hear the entry and the answer in order, as their executing type has it",
        arguments: [
            (ExecutingType.default, "begin old new completion", "begin old new completion"),
            (.latest, "begin old cancel superseded completion", "begin old new completion"),
            (.only, "begin old new completion", "cancel ignored"),
            (.only(joining: true), "begin old new completion", "begin old new completion"),
            (.queue, "begin old new completion", "begin new new completion"),
        ])
    @MainActor
    func executing(type: ExecutingType, first: String, second: String) async {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let slow = ControlledDataProvider<String, String>()
        let answers = Task { while let request = try? await slow.waitForRequest() { request.answer("new") } }
        defer { answers.cancel() }
        let users = Integrator(slow.cached(in: filled()), executing: type)
        let logs = [Shared<[String]>([]), Shared<[String]>([])]
        let tasks = logs.map { users.prepareCall("key").heard(in: $0).call() }
        for task in tasks { await task.finish() }
        #expect(logs.map { $0.value.joined(separator: " ") } == [first, second])
    }

    @Test("Equal values are heard once, if that is wished")
    func duplicates() async {
        let same = StubDataProvider<String, String>("old")
        #expect(await same.cached(in: filled()).removingDuplicates().everything(for: "key") == ["old"])
        #expect(await remote.cached(in: filled()).removingDuplicates().everything(for: "key") == ["old", "new"])
        let labelled = same.cached(in: filled()).labelled().removingDuplicates { $0.value == $1.value }
        #expect(await labelled.everything(for: "key").count == 1)
    }

    @Test("Labels don't make equal values different: the entry that was right is heard, with its age")
    func labelledDuplicates() async throws {
        func heard(_ base: StubDataProvider<String, String>) async throws -> [Sourced<String>] {
            var heard: [Sourced<String>] = []
            for try await value in base.cached(in: filled()).labelled().removingDuplicates().values(for: "key") {
                heard.append(value)
            }
            return heard
        }
        let old = Sourced("old", from: .cache(age: .seconds(60)))
        #expect(try await heard(StubDataProvider("old")) == [old])
        #expect(try await heard(remote) == [old, Sourced("new", from: .remote)])
    }

    @Test(
        "Who finds nothing, while another is answered, is not asked for again",
        arguments: [CachePolicy.cacheElseRemote(maxAge: .seconds(9)), .staleWhileRevalidate(maxAge: .seconds(9))])
    func answeredMeanwhile(policy: CachePolicy) async throws {
        let late = Shared<MemoryCache<String, String>?>(nil)
        let cache = MemoryCache<String, String>(countLimit: 10, clock: wall.clock) { outcome in
            // As another thread may, between the look and the question.
            if case .miss = outcome { late.value?.set("meanwhile", for: "key") }
        }
        late.value = cache
        let never = StubDataProvider<String, String> { _ in throw Offline() }
        #expect(await never.cached(in: cache, policy: policy).everything(for: "key") == ["meanwhile"])
        late.value = nil
    }

    @Test("Labels tell where a value comes from, and how old it is")
    func labels() async throws {
        var heard: [Sourced<String>] = []
        for try await value in remote.cached(in: filled()).labelled().values(for: "key") { heard.append(value) }
        #expect(heard == [Sourced("old", from: .cache(age: .seconds(60))), Sourced("new", from: .remote)])
        #expect(try await remote.cached(in: filled()).labelled().request("key").source == .remote)
    }

    @Test("The key is made from the input, once a request, and the tags from the answer")
    func keysAndTags() async throws {
        struct Query: Sendable { let id: Int, page: Int }
        let asked = Shared(0)
        let cache = MemoryCache<Int, String>(countLimit: 10)
        let provider = ClosureDataProvider<Query, String> { "\($0.id) \($0.page)" }.cached(
            in: cache,
            key: { query in
                asked.change { $0 += 1 }
                return query.id
            }, tags: { query, value in ["page \(query.page)", value] })
        _ = try await provider.request(Query(id: 7, page: 3))
        #expect(asked.value == 1)
        #expect(cache.get(7)?.tags == ["page 3", "7 3"])
    }

    @Test("The hook hears what becomes of every request")
    func hook() async {
        let cache = memory()
        let provider = remote.cached(in: cache, policy: .cacheElseRemote(maxAge: .seconds(10)))
        _ = await provider.everything(for: "key")
        _ = await provider.everything(for: "key")
        wall.advance(by: .seconds(11))
        _ = await provider.everything(for: "key")
        #expect(outcomes.words == ["miss key", "written key", "hit key 0", "stale key 11", "written key"])
    }

    /// A store that fails at everything.
    private struct FailingStore: CacheStore {
        struct Broken: Error, CustomStringConvertible { let description = "broken" }

        let ledger: CacheLedger<String, String>

        init(_ outcomes: Outcomes) {
            ledger = CacheLedger(onOutcome: outcomes.hook())
        }

        func get(_ key: String) async throws -> CacheEntry<String>? { throw Broken() }
        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
            throw Broken()
        }
        func remove(_ key: String) async throws { throw Broken() }
        func removeAll(tagged tag: String) async throws { throw Broken() }
        func removeAll() async throws { throw Broken() }
    }

    @Test("A store that fails is told to the hook, and never to a caller")
    func failingStore() async throws {
        let store = FailingStore(outcomes)
        // What was heard is known for as long as anything of its request is still on its way out.
        let heard = try await settled { await remote.cached(in: store).everything(for: "key") }
        #expect(heard == ["new"])
        #expect(await broken.cached(in: store, policy: .remoteElseCache).everything(for: "key") == ["error offline"])
        #expect(outcomes.words == ["failed key broken", "failed key broken", "failed key broken"])
        await #expect(throws: FailingStore.Broken.self) { try await store.invalidate("key") }
        await #expect(throws: FailingStore.Broken.self) { try await store.write("value", for: "key") }
    }
}
