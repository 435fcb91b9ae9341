import IDMCore
import IDMTestSupport
import IDMTesting
import Testing

@Suite("The test of the README", .testScope, .timeLimit(.minutes(1)))
struct ReadmeTests {
    // sample: a test
    @Test @MainActor func theNewerSearchWins() async throws {
        let provider = ControlledDataProvider<String, [String]>()
        let search = Integrator(provider, executing: .latest)
        let older = search.prepareCall("app").call()
        let newer = search.prepareCall("apple").call()
        try await provider.waitForRequest("apple").answer(["Apple"])
        #expect(await older.outcome == .cancelled(.superseded))
        #expect(await newer.outcome == .success(["Apple"]))
    }
    // end
}
