import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// A store that is slow, and a provider that is slow: whichever comes first.
@Suite("A cache that takes its time", .timeLimit(.ample))
struct RacingStoreTests {
    private let store = ControlledStore()
    private let remote = ControlledDataProvider<String, String>()
    private let log = Shared<[String]>([])

    private func entry(_ value: String) -> CacheEntry<String> { store.ledger.entry(value) }

    /// A call to the provider, and its read, its request: both are made at once.
    private func start(
        _ policy: CachePolicy = .cachedThenRemote
    ) async throws -> (IntegrationTask<String>, read: ControlledRequest<String, CacheEntry<String>?>) {
        let task = Integrator(remote.cached(in: store, policy: policy)).prepareCall("key").heard(in: log).call()
        return (task, try await store.reads.waitForRequest())
    }

    @Test("The entry first: it is heard before the answer is there")
    func cacheFirst() async throws {
        let heard = ControlledDataProvider<String, Void>()
        let task = Integrator(remote.cached(in: store)).prepareCall("key").heard(in: log)
            .onSuccess { value in Task { try await heard.request(value) } }.call()
        let request = try await remote.waitForRequest()
        try await store.reads.waitForRequest().answer(entry("old"))
        try await heard.waitForRequest().answer()
        #expect(log.value == ["begin", "old"])
        request.answer("new")
        try await store.writes.waitForRequest().answer()
        await task.finish()
        #expect(log.value == ["begin", "old", "new", "completion"])
    }

    @Test("A slow read does not bring back what a refresh has replaced on the screen", arguments: [true, false])
    func refreshDuringARead(isAnswered: Bool) async throws {
        let old = entry("old")
        let provider = remote.cached(in: store)
        let task = Integrator(provider).prepareCall("key").heard(in: log).call()
        let read = try await store.reads.waitForRequest()
        let first = try await remote.waitForRequest()
        let refresh = Integrator(provider.refreshing).prepareCall("key").heard(in: log).call()
        try await remote.waitForRequest().answer("new")
        try await store.writes.waitForRequest().answer()
        await refresh.finish()
        read.answer(old)
        try await read.waitUntilEnded()
        if isAnswered {
            first.answer("older")
        } else {
            first.fail(Offline())
            // The cache is asked once more, and has what the refresh has written.
            try await store.reads.waitForRequest().answer(store.memory.get("key"))
        }
        await task.finish()
        let heard = isAnswered ? ["new"] : ["new", "error offline"]
        #expect(log.value == ["begin", "begin", "new", "completion"] + heard + ["completion"])
    }

    @Test("An answer that comes while the cache is read is not taken for what the cache held")
    func ownAnswerDuringARead() async throws {
        let (task, read) = try await start()
        try await remote.waitForRequest().answer("new")
        let write = try await store.writes.waitForRequest()
        // The answer is known, and may not have been heard yet.
        read.answer(nil)
        write.answer()
        await task.finish()
        #expect(log.value == ["begin", "new", "completion"])
    }

    @Test("An answer is found before it has been written, unless it was invalidated", arguments: [false, true])
    func answerOnItsWay(isInvalidated: Bool) async throws {
        let provider = remote.cached(in: store, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        let task = Integrator(provider).prepareCall("key").call()
        try await store.reads.waitForRequest().answer(nil)
        try await remote.waitForRequest().answer("new")
        let write = try await store.writes.waitForRequest()

        if isInvalidated { try await store.invalidate("key") }
        let next = Integrator(provider).prepareCall("key").call()
        try await store.reads.waitForRequest().answer(nil)
        if isInvalidated {
            try await remote.waitForRequest().answer("newer")
            try await store.writes.waitForRequest().answer()
        }
        #expect(try await next.value == (isInvalidated ? "newer" : "new"))
        #expect(remote.requestCount == (isInvalidated ? 2 : 1))
        write.answer()
        await task.finish()
    }

    @Test("A read that has seen nothing of an answer that landed meanwhile doesn't ask for it again")
    func answerBehindARead() async throws {
        let provider = remote.cached(in: store, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        let first = Integrator(provider).prepareCall("key").call()
        try await store.reads.waitForRequest().answer(nil)
        let request = try await remote.waitForRequest()
        let second = Integrator(provider).prepareCall("key").call()
        let read = try await store.reads.waitForRequest()
        request.answer("new")
        try await store.writes.waitForRequest().answer()
        await first.finish()
        read.answer(nil)
        #expect(try await second.value == "new")
        #expect(remote.requestCount == 1)
    }

    @Test("The answer first: the entry is not heard any more")
    func remoteFirst() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let (task, read) = try await start()
            try await remote.waitForRequest().answer("new")
            try await store.writes.waitForRequest().answer()
            await task.finish()
            read.answer(entry("old"))
            // Until all has come of it that does.
            await clock.rest()
            #expect(read.isOver && log.value == ["begin", "new", "completion"])
        }
    }

    @Test("An error first: it is heard after the entry, and alone if there is none", arguments: [true, false])
    func errorFirst(isThere: Bool) async throws {
        let (task, read) = try await start()
        let request = try await remote.waitForRequest()
        request.fail(Offline())
        try await request.waitUntilEnded()
        read.answer(isThere ? entry("old") : nil)
        await task.finish()
        let heard = isThere ? ["old", "error offline"] : ["error offline"]
        #expect(log.value == ["begin"] + heard + ["completion"])
    }

    @Test("A read that fails is no entry")
    func readError() async throws {
        let (task, read) = try await start()
        read.fail(Offline())
        try await remote.waitForRequest().answer("new")
        try await store.writes.waitForRequest().answer()
        await task.finish()
        #expect(log.value == ["begin", "new", "completion"])
    }

    @Test("A cancel before anything has come reaches the provider, and nothing is heard of either")
    func cancelBeforeBoth() async throws {
        let (task, read) = try await start()
        let request = try await remote.waitForRequest()
        task.cancel()
        try await request.waitUntilCancelled()
        read.answer(entry("old"))
        await task.finish()
        #expect(log.value == ["begin", "cancel cancelled", "completion"])
    }

    @Test("A cancel while an error waits for the entry ends the request, though the read goes on")
    @MainActor
    func cancelWhileFailing() async throws {
        // Fails at once: when this actor has its next turn, the read is all that is waited for.
        let broken = StubDataProvider<String, String>(failing: Offline())
        let values = Task { await broken.cached(in: store).everything(for: "key") }
        let read = try await store.reads.waitForRequest()
        values.cancel()
        #expect(await values.value == ["error CancellationError()"])
        read.answer(nil)
    }

    @Test("A cancel between the two reaches the provider, and the entry stays heard")
    @MainActor
    func cancelBetween() async throws {
        let heard = ControlledDataProvider<String, Void>()
        let task = Integrator(remote.cached(in: store)).prepareCall("key").heard(in: log)
            .onSuccess { _ in Task { try await heard.request("") } }.call()
        try await store.reads.waitForRequest().answer(entry("old"))
        let request = try await remote.waitForRequest()
        try await heard.waitForRequest().answer()
        task.cancel()
        try await request.waitUntilCancelled()
        await task.finish()
        #expect(log.value == ["begin", "old", "cancel cancelled", "completion"])
    }

    @Test("Who lets go of the values cancels the request")
    func abandoned() async throws {
        let first = Task {
            for try await value in remote.cached(in: store).values(for: "key") { return value }
            return "nothing"
        }
        // A request whose turn has not come when the values are let go of is never made.
        let request = try await remote.waitForRequest()
        try await store.reads.waitForRequest().answer(entry("old"))
        #expect(try await first.value == "old")
        try await request.waitUntilCancelled()
    }

    @Test("The answer is heard while it is being written, and the run ends when it has been")
    func writeTakesTime() async throws {
        let heard = ControlledDataProvider<String, Void>()
        let task = Integrator(remote.cached(in: store)).prepareCall("key").heard(in: log)
            .onSuccess { _ in Task { try await heard.request("") } }.call()
        try await store.reads.waitForRequest().answer(nil)
        try await remote.waitForRequest().answer("new")
        let write = try await store.writes.waitForRequest()
        try await heard.waitForRequest().answer()
        #expect(log.value == ["begin", "new"])
        write.answer()
        await task.finish()
        #expect(log.value == ["begin", "new", "completion"])
        #expect(store.memory.get("key")?.value == "new")
    }

    @Test(
        "A request that is cancelled while the cache is read is not answered from it",
        arguments: [CachePolicy.cacheOnly, .cacheElseRemote(maxAge: .seconds(86_400)), .remoteElseCache], [true, false])
    func cancelledLook(policy: CachePolicy, isFound: Bool) async throws {
        let provider = remote.cached(in: store, policy: policy)
        let heard = Task { await provider.everything(for: "key") }
        if policy == .remoteElseCache { try await remote.waitForRequest().fail(Offline()) }
        let read = try await store.reads.waitForRequest()
        heard.cancel()
        read.answer(isFound ? store.ledger.entry("old") : nil)
        #expect(await heard.value == ["error \(CancellationError())"])
    }

    @Test("A write that is on its way goes on when the request is cancelled, which doesn't wait for it")
    func writeOutlives() async throws {
        let task = Task { try await remote.cached(in: store, policy: .remoteOnly).request("key") }
        try await remote.waitForRequest().answer("new")
        let write = try await store.writes.waitForRequest()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        write.answer()
        try await store.written.wait { $0 == 1 }
        #expect(store.memory.get("key")?.value == "new")
    }

    @Test("Nothing of the cache is kept when all is over")
    func leavesNothing() async throws {
        try await settled {
            let (task, read) = try await start()
            read.answer(nil)
            try await remote.waitForRequest().fail(Offline())
            await task.finish()
            let other = Task { try await remote.cached(in: store, policy: .refresh).request("key") }
            try await remote.waitForRequest().answer("new")
            try await store.writes.waitForRequest().answer()
            _ = try await other.value
        }
        #expect(store.ledger.isEmpty)
    }
}
