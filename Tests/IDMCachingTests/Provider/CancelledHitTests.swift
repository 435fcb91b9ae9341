import IDMCaching
import IDMCore
import TestSupport
import Testing

@Suite("A request that is cancelled as it hits", .timeLimit(.ample))
struct CancelledHitTests {
    @Test("is not answered from the cache")
    func cancelled() async throws {
        let cache = MemoryCache<String, String>(
            countLimit: 10,
            onOutcome: { outcome in
                guard case .hit = outcome else { return }
                withUnsafeCurrentTask { $0?.cancel() }
            })
        cache.set("old", for: "key")
        let provider = ClosureDataProvider { (_: String) in "new" }.cached(
            in: cache, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        let task = Task { try await provider.request("key") }
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    private static let age = Duration.seconds(86_400)

    @Test(
        "and a walk through its values in a task that is cancelled isn't either",
        arguments: [
            CachePolicy.cacheOnly, .cachedThenRemote, .cacheElseRemote(maxAge: age), .staleWhileRevalidate(maxAge: age),
        ], [false, true])
    func walk(policy: CachePolicy, isLabelled: Bool) async {
        let outcomes = Outcomes()
        let cache = MemoryCache<String, String>(countLimit: 10, onOutcome: outcomes.hook())
        cache.set("old", for: "key")
        let provider = ClosureDataProvider { (_: String) in "new" }.cached(in: cache, policy: policy)
        let words = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return isLabelled
                ? await provider.labelled().everything(for: "key") : await provider.everything(for: "key")
        }.value
        #expect(words == ["error CancellationError()"])
        #expect(outcomes.words == ["written key"])
    }
}
