import IDMCaching
import IDMCore
import TestSupport
import Testing

@Suite("A traced store", .timeLimit(.ample))
struct TraceRecorderCachingTests {
    @Test("marks what becomes of requests, and shows neither keys nor values")
    func marks() async throws {
        let trace = TraceRecorder()
        let memory = MemoryCache<String, String>(countLimit: 1, onOutcome: trace.outcomes(on: "memory"))
        let provider = ClosureDataProvider { (name: String) in "secret of \(name)" }
            .cached(in: memory, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        for name in ["ada", "ada", "bob"] { #expect(try await provider.request(name) == "secret of \(name)") }
        #expect(
            trace.entries.map(\.name) == ["miss", "written", "hit", "miss", "evicted 1: bounds", "written"])
        #expect(trace.entries.allSatisfy { $0.track == "memory" && $0.isMark })
        #expect(!trace.page.contains("ada") && !trace.page.contains("secret"))
    }
}
