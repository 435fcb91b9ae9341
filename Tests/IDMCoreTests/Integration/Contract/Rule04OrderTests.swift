import IDMCore
import IDMTesting
import TestSupport
import Testing

/// Handlers of one call on several actors, in many orders of these actors' turns: a handler that did not wait would run
/// too early in some of them.
@Suite("Rule 4: handlers run in order, whatever the order of turns", .timeLimit(.ample))
struct Rule04OrderTests {
    private actor Desk {
        private let name: String
        private let log: Log

        init(_ name: String, _ log: Log) {
            self.name = name
            self.log = log
        }

        func adding(to call: IntegrationCall<Int>) -> IntegrationCall<Int> {
            call.onProgress { [name, log] in log.add("\(name) \($0.fraction)") }
                .onSuccess { [name, log] in log.add("\(name) \($0)") }
        }
    }

    @Test func `a handler waits for the one before it`() async throws {
        try await explore(seeds: 0..<100) { _ in
            let log = Log()
            var call = Integrator(Echo<Int>()).prepareCall(1)
            for desk in [Desk("first", log), Desk("second", log)] { call = await desk.adding(to: call) }
            await call.onSuccess { _ in log.add("no actor") }.call().finish()
            try #require(log.entries == ["first 1", "second 1", "no actor"])
        }
    }

    @Test func `progress waits for a running handler`() async throws {
        let seen = Observed<Set<[String]>>([])
        try await explore(seeds: 0..<200) { executor in
            let (log, provider) = (Log(), ControlledDataProvider<Int, Int>())
            var call = Integrator(provider).prepareCall(1)
            for desk in [Desk("first", log), Desk("second", log)] { call = await desk.adding(to: call) }
            let task = call.call()
            let request = try await provider.waitForRequest()
            for fraction in [0.25, 0.5] {
                request.reporter?.report(fraction: fraction)
                await Task(executorPreference: executor) {}.value
            }
            request.answer(1)
            await task.finish()
            seen.change { $0.insert(log.entries) }
        }
        let end = ["first 0.5", "second 0.5", "first 1", "second 1"]
        #expect(seen.value == [end, ["first 0.25", "second 0.25"] + end])
    }
}
