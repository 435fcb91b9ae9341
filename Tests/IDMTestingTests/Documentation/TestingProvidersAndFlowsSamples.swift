import IDMCore
import IDMTesting
import TestSupport
import Testing

private struct Offline: Error {}

private struct UserDataProvider: DataProvider {
    func request(_ query: String) async throws -> [String] { [query] }
}

// sample: a meter
/// Counts how many requests are in it at the same time.
actor Meter: DataProvider {
    private var inside = 0
    private(set) var most = 0

    func request(_ query: String) async throws -> Int {
        inside += 1
        most = max(most, inside)
        // Waits for a child task, so that others may have their turn.
        await withTaskGroup(of: Void.self) { group in group.addTask {} }
        inside -= 1
        return most
    }
}
// end

// sample: failures as issues
/// Runs each test in a scope of its own, whose failures become issues at their lines.
struct ReportingFailures: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await TestScope.run(reportingTo: { failure in Issue.record(failure) }) { try await function() }
    }
}

extension Issue {
    nonisolated static func record(_ failure: TestFailure) {
        let place = SourceLocation(
            fileID: "\(failure.place.fileID)", filePath: "\(failure.place.filePath)", line: failure.place.line,
            column: failure.place.column)
        record(Comment(rawValue: failure.message), sourceLocation: place)
    }
}
// end

@Suite("Samples of testing", .timeLimit(.ample))
struct TestingProvidersAndFlowsSamples {
    // sample: a first stub
    @Test("The search shows what the provider finds")
    func search() async throws {
        try await TestScope.run {
            let users = Integrator(StubDataProvider<String, [String]>(["Ada", "Grace"]))
            let found = try await users.request("a")
            #expect(found == ["Ada", "Grace"])
        }
    }
    // end

    // sample: a controlled provider
    @Test("Only the newest search is shown")
    func newest() async throws {
        let provider = ControlledDataProvider<String, [String]>()
        let users = Integrator(provider, executing: .latest)
        let older = users.prepareCall("a").call()
        let request = try await provider.nextRequest()
        let newer = users.prepareCall("ab").call()
        try await request.cancelled()
        try await provider.nextRequest().answer(["Abel"])
        #expect(await older.outcome == .cancelled(.superseded))
        #expect(await newer.outcome == .success(["Abel"]))
    }
    // end

    // sample: a spy
    @Test("The second attempt is made with the same input")
    func attempts() async throws {
        let spy = SpyDataProvider(StubDataProvider<Int, Int>(answers: [.failure(Offline()), .success(1)]))
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
        let users = Integrator(spy, executing: .latest(debounce: .milliseconds(300)), clock: clock)
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
        try await TestScope.run {
            let stub = StubDataProvider<String, [String]>(answers: [.failure(Offline()), .success(["Ada"])])
            let recorder = IntegrationRecorder<[String]>()
            recorder.call(Integrator(stub).prepareCall("a").retry(1))
            try await recorder.expect(.began, .retried(1), .succeeded(["Ada"]), .completed)
        }
    }
    // end

    // sample: a timeline
    @Test("Calls of a queue wait for each other")
    func queue() async throws {
        try await TestScope.run {
            await Timeline.expect(
                executing: .queue, taking: 2,
                calls: "abc",
                hears: "a-(Ab)-(Bc)-C"
            )
        }
    }
    // end

    // sample: the contract
    @Test("The user provider is a good provider, and nobody holds its integrator")
    func contract() async throws {
        try await TestScope.run {
            let leaks = LeakTracker()
            try await DataProviderContract.check(input: "a") { UserDataProvider() }
            let users = leaks.track(Integrator(UserDataProvider()))
            _ = try await users.request("a")
        }
    }
    // end

    // sample: a race
    @Test("A queue runs one request at a time, in whatever order calls are made")
    func race() async throws {
        try await explore(seeds: 0..<200) { _ in
            let meter = Meter()
            let queue = Integrator(meter, executing: .queue)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for query in ["a", "b", "c"] { group.addTask { try await queue.request(query) } }
                try await group.waitForAll()
            }
            try #require(await meter.most == 1)
        }
    }
    // end

    // sample: a race that is found
    @Test("Without a queue requests meet, and the seed that showed it shows it again")
    func meeting() async throws {
        struct Met: Error {}
        @Sendable func makeCalls(_ executor: DeterministicExecutor) async throws {
            let meter = Meter()
            let users = Integrator(meter)
            async let first = users.request("a")
            async let second = users.request("b")
            _ = try await (first, second)
            guard await meter.most == 1 else { throw Met() }
        }
        let found = try await #require(throws: ExplorationFailure.self) {
            try await explore(seeds: 0..<200, makeCalls)
        }
        let again = try await #require(throws: ExplorationFailure.self) {
            try await explore(seeds: [found.seed], makeCalls)
        }
        #expect(found.error is Met && again.error is Met)
    }
    // end
}

@Suite("Failures as issues", .timeLimit(.ample), ReportingFailures())
struct ReportingFailuresTests {
    @Test("A failure of the kit is an issue of the test at the line where it was made")
    func issue() async throws {
        let line = #line + 2
        await withKnownIssue {
            let stub = StubDataProvider<Int, Int>.unexpected()
            _ = try? await stub.request(1)
        } matching: { issue in
            issue.sourceLocation?.line == line
        }
    }
}
