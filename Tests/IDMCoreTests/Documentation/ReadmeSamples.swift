import IDMCore
import IDMTesting
import TestSupport
import Testing

extension Surroundings {
    @MainActor
    private static func readme() async throws {
        // sample: the flow in ten lines
        struct UserDataProvider: DataProvider {
            func request(_ query: String) async throws -> [String] { try await directory.users(matching: query) }
        }

        struct Users: DataModel {
            let names: [String]
            init(from source: [String]) { names = source.sorted() }
        }

        let users = Integrator(UserDataProvider(), model: Users.self, executing: .latest)
        users.prepareCall("apple").onSuccess { users in list.show(users.names) }.call()
        // end

        do {
            // sample: every handler
            let task = users.prepareCall("apple")
                .onBeginning { spinner.start() }
                .onProgress { progress in bar.show(progress.fraction) }
                .onSuccess { users in list.show(users.names) }
                .onError { error in banner.show(error) }
                .onCancel { reason in print(reason) }
                .onCompletion { spinner.stop() }
                .call()
            // end
            task.cancel()
        }

        do {
            // sample: awaited, and looped over
            let found = try await users.request("apple")
            for await event in users.prepareCall("apple").events() { print(event) }
            // end
            list.show(found.names)
        }

        do {
            // sample: composed
            let profile = TokenDataProvider() >>>> ProfileDataProvider() >>>> Profile.self
            let screen = profile >><< NewsDataProvider()
            let robust = screen.timeout(.seconds(5)).retry(2)
            // end
            _ = try await robust.request(((), .today))
        }

        let cached = users
        let remote = users
        do {
            // sample: cached, then remote
            cached.prepareCall("apple")
                .onSuccess { users in list.show(users.names) }
                .thenRecall(with: remote, "apple")
                .call()
            // end
        }
    }
}

@Suite("The test that the README shows", .timeLimit(.ample))
struct ReadmeTests {
    // sample: a test
    @Test @MainActor func theNewestSearchCounts() async throws {
        let provider = ControlledDataProvider<String, [String]>()
        let search = Integrator(provider, executing: .latest)
        let older = search.prepareCall("a").call()
        let newer = search.prepareCall("ad").call()
        try await provider.waitForRequest().waitUntilCancelled()
        try await provider.waitForRequest().answer(["Ada"])
        #expect(try await newer.value == ["Ada"])
        #expect(await older.outcome.cancelReason == .superseded)
    }
    // end
}
