import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// Requests for one key that are on their way at the same time, and what comes between them.
@Suite("Cached requests side by side", .timeLimit(.ample))
struct SharedRequestTests {
    private let outcomes = Outcomes()
    private let cache: MemoryCache<String, String>
    private let remote = ControlledDataProvider<String, String>()
    private let deaf = ControlledDataProvider<String, String>(reactsToCancel: false)

    init() {
        cache = MemoryCache(countLimit: 100, onOutcome: outcomes.hook())
    }

    /// Starts to ask, and returns when the question is on its way, alone or with others.
    private func ask(
        _ provider: CachedDataProvider<ControlledDataProvider<String, String>, MemoryCache<String, String>>,
        _ key: String = "key"
    ) async -> Task<String, any Error> {
        // The first step of an immediate task ends where it waits for the answer. Elsewhere it may come later. The
        // provider is asked in a task of its own, so whoever asks for two things waits for each of them to be asked
        // for.
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate { try await provider.request(key) }
        }
        return Task { try await provider.request(key) }
    }

    @Test("Equal keys are asked for once, and all get the answer")
    func shared() async throws {
        let provider = remote.cached(in: cache)
        let tasks = [await ask(provider), await ask(provider), await ask(provider, "other"), await ask(provider)]
        let (first, second) = (try await remote.waitForRequest(), try await remote.waitForRequest())
        first.answer("for \(first.input)")
        second.answer("for \(second.input)")
        for (task, key) in zip(tasks, ["key", "key", "other", "key"]) {
            #expect(try await task.value == "for \(key)")
        }
        #expect(remote.requestCount == 2)
        #expect(outcomes.count("joined key") == 2)
        #expect(outcomes.count("written") == 2)
    }

    @Test("Thousands of requests for one key make one upstream request")
    func tenThousand() async throws {
        let provider = remote.cached(in: cache, policy: .remoteOnly)
        var tasks: [Task<String, any Error>] = []
        let count = Volume.of(10_000, normally: 2_000)
        for _ in 0..<count { tasks.append(await ask(provider)) }
        try await remote.waitForRequest().answer("one")
        for task in tasks { #expect(try await task.value == "one") }
        #expect(remote.requestCount == 1)
        #expect(outcomes.count("joined") == count - 1)
    }

    @Test("One caller's cancel hurts no other, and the last one out cancels the request")
    func cancels() async throws {
        let provider = remote.cached(in: cache)
        let (first, second) = (await ask(provider), await ask(provider))
        let request = try await remote.waitForRequest()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(!request.isCancelled)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await request.waitUntilCancelled()
    }

    @Test("A refresh joins no older request, and later requests join the refresh")
    func refresh() async throws {
        let provider = remote.cached(in: cache, policy: .remoteOnly)
        let older = await ask(provider)
        let first = try await remote.waitForRequest()
        let refresh = await ask(provider.refreshing)
        let later = await ask(provider)
        let second = try await remote.waitForRequest()
        #expect(remote.requestCount == 2)
        first.answer("old")
        #expect(try await older.value == "old")
        second.answer("new")
        #expect(try await refresh.value == "new")
        #expect(try await later.value == "new")
        #expect(cache.get("key")?.value == "new")
    }

    @Test("An older answer that comes late is neither written nor heard: the newer one is heard in its place")
    func olderComesLate() async throws {
        let provider = remote.cached(in: cache, policy: .remoteOnly)
        let older = await ask(provider)
        let first = try await remote.waitForRequest()
        let refresh = await ask(provider.refreshing)
        let second = try await remote.waitForRequest()
        second.answer("new")
        #expect(try await refresh.value == "new")
        first.answer("old")
        #expect(try await older.value == "new")
        #expect(cache.get("key")?.value == "new")
        #expect(outcomes.words.contains("dropped key"))
    }

    @Test("The same holds between two providers of one store")
    func twoProviders() async throws {
        let other = ControlledDataProvider<String, String>()
        let older = await ask(remote.cached(in: cache, policy: .remoteOnly))
        let first = try await remote.waitForRequest()
        let newer = await ask(other.cached(in: cache, policy: .remoteOnly))
        try await other.waitForRequest().answer("new")
        #expect(try await newer.value == "new")
        first.answer("old")
        #expect(try await older.value == "new")
        #expect(cache.get("key")?.value == "new")
    }

    @Test("A provider that ignores its cancel doesn't overwrite what was asked for after it")
    func deafProvider() async throws {
        let provider = deaf.cached(in: cache, policy: .remoteOnly)
        let left = await ask(provider)
        let first = try await deaf.waitForRequest()
        left.cancel()
        _ = await left.result
        let newer = await ask(provider)
        try await deaf.waitForRequest().answer("new")
        #expect(try await newer.value == "new")
        first.answer("old")
        try await outcomes.hear("dropped key")
        #expect(cache.get("key")?.value == "new")
    }

    @Test(
        "What was asked for before an invalidation does not land after it, and is not joined any more",
        arguments: 0..<4)
    func invalidated(way: Int) async throws {
        let provider = remote.cached(in: cache, policy: .remoteOnly, tags: { _, _ in ["tag"] })
        let before = await ask(provider)
        let first = try await remote.waitForRequest()
        switch way {
        case 0: try await cache.invalidate("key")
        case 1: try await cache.invalidate(tag: "tag")
        case 2: try await cache.invalidateAll()
        default: cache.removeAll()
        }
        let after = await ask(provider)
        let second = try await remote.waitForRequest()
        first.answer("before")
        #expect(try await before.value == "before")
        // Nor does its end keep from landing what was asked for since.
        #expect(cache.get("key") == nil)
        second.answer("after")
        #expect(try await after.value == "after")
        #expect(cache.get("key")?.value == "after")
    }

    @Test("A value that was set by hand is not overwritten by an answer to an older question, and is heard instead")
    func setByHand() async throws {
        let task = await ask(remote.cached(in: cache, policy: .remoteOnly))
        let request = try await remote.waitForRequest()
        cache.set("mine", for: "key")
        request.answer("theirs")
        #expect(try await task.value == "mine")
        #expect(cache.get("key")?.value == "mine")
    }

    @Test("An invalidation of another key or tag does nothing")
    func otherInvalidation() async throws {
        let provider = remote.cached(in: cache, policy: .remoteOnly, tags: { _, _ in ["tag"] })
        let task = await ask(provider)
        try await cache.invalidate("other")
        try await cache.invalidate(tag: "another")
        try await remote.waitForRequest().answer("value")
        _ = try await task.value
        #expect(cache.get("key")?.value == "value")
    }

    @Test("The progress of a shared request is heard by all who share it")
    func progress() async throws {
        let heard = Shared<[Double]>([])
        let calls = Integrator(remote.cached(in: cache))
        let first = calls.prepareCall("key").onProgress { progress in heard.change { $0.append(progress.fraction) } }
            .call()
        let request = try await remote.waitForRequest()
        request.reporter?.report(fraction: 0.5)
        request.answer("value")
        await first.finish()
        #expect(heard.value == [0.5])
    }

    @Test("Racing requests, refreshes and invalidations: nothing hangs, and the last word stays", arguments: 0..<8)
    func racing(seed: Int) async throws {
        let count = Shared(0)
        let provider = ClosureDataProvider<String, String> { _ in
            count.change { count in
                count += 1
                return "\(count)"
            }
        }.cached(in: cache, policy: .remoteOnly)
        try await settled {
            await withTaskGroup { group in
                for task in 0..<6 {
                    group.addTask {
                        var random = SplitMix(seed: UInt64(seed * 100 + task))
                        for _ in 0..<Volume.of(2_000, normally: 100) {
                            switch Int.random(in: 0..<6, using: &random) {
                            case 0: cache.remove("key")
                            case 1: _ = try? await provider.refreshing.request("key")
                            default: _ = try? await provider.request("key")
                            }
                        }
                    }
                }
            }
            let last = try await provider.refreshing.request("key")
            #expect(cache.get("key")?.value == last)
        }
        #expect(cache.ledger.isEmpty)
    }
}
