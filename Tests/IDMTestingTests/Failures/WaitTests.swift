import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A waiting function", .timeLimit(.ample))
struct WaitTests {
    typealias Wait = @Sendable (_ limit: Duration) async throws -> Void

    /// Waits for something that never comes, and the message about it.
    static let waits: [(message: String, line: Int, wait: Wait)] = [
        ("Expected 1 request, and none came", #line, { _ = try await Pear.provider().waitForRequest(within: $0) }),
        ("Expected 1 request, and none came", #line, { _ = try await Pear.stream().waitForRequest(within: $0) }),
        ("Expected 1 request, and none came", #line, { _ = try await Pear.callback().waitForRequest(within: $0) }),
        (
            "Expected a request with apple, and none came", #line + 1,
            { _ = try await Pear.provider().waitForRequest("apple", within: $0) }
        ),
        (
            "Expected 2 requests, and none came", #line + 1,
            { try await SpyDataProvider(Echo<Int>()).waitForRequests(2, within: $0) }
        ),
        (
            "Expected 2 requests to end, and none did", #line + 1,
            { try await SpyDataProvider(Echo<Int>()).waitForEndedRequests(2, within: $0) }
        ),
        ("Expected 2 sleepers, and none came", #line, { try await ManualClock().waitForSleepers(2, within: $0) }),
        (
            "Expected 1 task to wait at the gate, and none did", #line + 1,
            { try await TestGate().waitForTasks(1, within: $0) }
        ),
        (
            "Expected began, and nothing came", #line + 1,
            { try await IntegrationRecorder<Int>().waitForEvents(.began, within: $0) }
        ),
    ]

    @Test("A wait at its limit fails at its line", arguments: waits.indices)
    func limit(index: Int) async throws {
        let (message, line, wait) = Self.waits[index]
        let failures = try await TestScope.failures { try await wait(.zero) }

        #expect(failures.map(\.summary) == ["\(line): \(message) within \(Duration.zero)."])
    }

    @Test("A wait without a limit of its own has that of its scope")
    func scopeLimit() async throws {
        let failures = try await TestScope.failures(waitLimit: .milliseconds(1)) {
            _ = try await Pear.provider().waitForRequest()
        }

        #expect(failures.map(\.message) == ["Expected 1 request, and none came within 0.001 seconds."])
    }

    @Test("A wait that is cancelled with its scope fails at its line", arguments: waits.indices)
    func cancelledScope(index: Int) async throws {
        let (message, line, wait) = Self.waits[index]
        let log = Observed<[TestFailure]>([])
        let test = Task {
            try await TestScope.run(reportingTo: { failure in log.change { $0.append(failure) } }) {
                withUnsafeCurrentTask { $0?.cancel() }
                try await wait(.seconds(600))
            }
        }

        await #expect(throws: CancellationError.self) { try await test.value }
        #expect(log.value.map(\.summary) == ["\(line): \(message) until the test was cancelled."])
    }

    @Test("A wait that the test cancels is no failure", arguments: waits.indices)
    func cancelledByTheTest(index: Int) async throws {
        try await TestScope.run {
            let waiting = Task { try await Self.waits[index].wait(.seconds(600)) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test("A wait for an input passes over requests with different inputs")
    func input() async throws {
        try await TestScope.run {
            let provider = Pear.provider()
            let users = Integrator(provider)
            let tasks = ["pear", "apple"].map { users.prepareCall($0).call() }
            try await provider.waitForRequest("apple").answer(2)
            try await provider.waitForRequest().answer(1)
            let values = [try await tasks[0].value, try await tasks[1].value]

            #expect(values == [1, 2])
        }
    }

    @Test("A wait for an input names the requests that came instead")
    func otherInputs() async throws {
        let failures = try await TestScope.failures {
            let (provider, clock) = (Pear.provider(), ManualClock())
            let task = Integrator(provider).prepareCall("pear").call()
            await clock.rest()
            defer { task.cancel() }
            _ = try await provider.waitForRequest("apple", within: .zero)
        }

        let message = "Expected a request with apple, and one with pear came within \(Duration.zero)."
        #expect(failures.map(\.message) == [message])
    }

    @Test("A cancelled wait takes no request from the next wait")
    func lostRequest() async throws {
        try await TestScope.run {
            let provider = Pear.provider()
            let waiting = Task { try await provider.waitForRequest() }
            waiting.cancel()
            _ = await waiting.result
            let task = Integrator(provider).prepareCall("pear").call()
            try await provider.waitForRequest().answer(1)
            let value = try await task.value

            #expect(value == 1)
        }
    }

    /// Ends a request without a cancel, in each form that a controlled provider has.
    static let uncancelled: [@Sendable () async throws -> Void] = [
        {
            let provider = ControlledDataProvider<Int, Int>()
            let task = Task { try await provider.request(1) }
            let request = try await provider.waitForRequest()
            request.answer(1)
            try await request.waitUntilCancelled()
            _ = try await task.value
        },
        {
            let provider = ControlledStreamDataProvider<Int, Int>()
            let task = Task { try await provider.request(1) }
            let request = try await provider.waitForRequest()
            request.send(1)
            request.finish()
            try await request.waitUntilCancelled()
            _ = try await task.value
        },
        {
            let provider = ControlledCallbackDataProvider<Int, Int>()
            let task = Integrator(provider).prepareCall(1).call()
            let request = try await provider.waitForRequest()
            request.answer(1)
            try await request.waitUntilCancelled()
            await task.finish()
        },
        {
            let provider = ControlledCallbackDataProvider<Int, Int>()
            let task = Integrator(provider).prepareCall(1).call()
            let request = try await provider.waitForRequest()
            request.drop()
            try await request.waitUntilCancelled()
            await task.finish()
        },
    ]

    @Test("A wait for a cancel fails when the request ends without one", arguments: uncancelled.indices)
    func endedWithoutCancel(index: Int) async throws {
        let failures = try await TestScope.failures { try await Self.uncancelled[index]() }

        #expect(failures.map(\.message) == ["Expected a cancel of the request, and it ended without one."])
    }

    @Test("A wait for an end or for no sleepers has a limit")
    func ends() async throws {
        let failures = try await TestScope.failures {
            let (provider, stream, clock) = (Pear.provider(), Pear.stream(), ManualClock())
            let tasks = [
                Task { _ = try await provider.request("pear") }, Task { _ = try await stream.request("pear") },
                Task { try await clock.sleep(for: .seconds(1)) },
            ]
            let (request, values) = (try await provider.waitForRequest(), try await stream.waitForRequest())
            try await clock.waitForSleepers(1)
            try? await request.waitUntilEnded(within: .zero)
            try? await values.waitUntilEnded(within: .zero)
            try? await clock.waitForNoSleepers(within: .zero)
            for task in tasks { task.cancel() }
        }

        let messages = [
            "Expected the end of the request, and none came", "Expected the end of the request, and none came",
            "Expected no sleepers, and 1 sleeper stayed",
        ]
        #expect(failures.map(\.message) == messages.map { "\($0) within \(Duration.zero)." })
    }

    private enum Pear {
        static func provider() -> ControlledDataProvider<String, Int> { ControlledDataProvider() }
        static func stream() -> ControlledStreamDataProvider<String, Int> { ControlledStreamDataProvider() }
        static func callback() -> ControlledCallbackDataProvider<String, Int> { ControlledCallbackDataProvider() }
    }
}
