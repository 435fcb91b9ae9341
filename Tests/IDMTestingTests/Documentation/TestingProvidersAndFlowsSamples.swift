import IDMCore
import IDMTestSupport
import IDMTesting
import TestSupport
import Testing

private struct Offline: Error {}

private struct UserDataProvider: DataProvider {
    func request(_ query: String) async throws -> [String] { [query] }
}

enum SetUpInSwiftTesting {
    // sample: a suite with scopes
    @Suite(.testScope)
    struct SearchTests {
        @Test("A search shows the names of the users")
        func search() async throws {
            let users = Integrator(StubDataProvider<String, [String]>(["Ada"]))
            #expect(try await users.request("a") == ["Ada"])
        }
    }
    // end
}

@Suite("Samples of testing", .testScope, .timeLimit(.ample))
struct TestingProvidersAndFlowsSamples {
    // sample: a controlled provider
    @Test("Only the newest search is shown")
    func newest() async throws {
        let provider = ControlledDataProvider<String, [String]>()
        let users = Integrator(provider, executing: .latest)
        let older = users.prepareCall("a").call()
        let request = try await provider.waitForRequest()
        let newer = users.prepareCall("ab").call()
        try await request.waitUntilCancelled()
        try await provider.waitForRequest("ab").answer(["Abel"])
        #expect(await older.outcome == .cancelled(.superseded))
        #expect(await newer.outcome == .success(["Abel"]))
    }
    // end

    // sample: a spy
    @Test("The second attempt is made with the same input")
    func attempts() async throws {
        let spy = SpyDataProvider(
            StubDataProvider<Int, Int>(answers: [.failure(Offline()), .success(1)]))
        #expect(try await spy.retry(1).request(7) == 1)
        #expect(spy.inputs == [7, 7])
        #expect(spy.events == [.requested(0), .failed(0), .requested(1), .answered(1)])
    }
    // end

    // sample: a manual clock
    @Test("The search waits for a pause in typing")
    func debounce() async throws {
        let clock = ManualClock()
        let spy = SpyDataProvider(ValueDataProvider<String, [String]>(["Ada"]))
        let users = Integrator(
            spy, executing: .latest(debounce: .milliseconds(300)), clock: clock)
        users.prepareCall("a").call()
        await clock.advance(by: .milliseconds(299))
        users.prepareCall("ad").call()
        await clock.advance(by: .milliseconds(300))
        #expect(spy.inputs == ["ad"])
    }
    // end

    // sample: a recorder
    @Test("A search that fails is tried again")
    func recorded() async throws {
        let stub = StubDataProvider<String, [String]>(
            answers: [.failure(Offline()), .success(["Ada"])])
        let recorder = IntegrationRecorder<[String]>()
        recorder.call(Integrator(stub).prepareCall("a").retry(1))
        try await recorder.waitForEvents(.began, .retried(1), .succeeded(["Ada"]), .completed)
    }
    // end

    // sample: the contract
    @Test("The user provider keeps the contract, and its integrator is released")
    func contract() async throws {
        let leaks = LeakTracker()
        try await DataProviderContract.check(inputs: "a", "b") { UserDataProvider() }
        let users = leaks.track(Integrator(UserDataProvider()))
        _ = try await users.request("a")
    }
    // end
}
