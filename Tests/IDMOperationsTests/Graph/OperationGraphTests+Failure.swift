import IDMCore
import IDMOperations
import IDMTesting
import Synchronization
import TestSupport
import Testing

/// Nodes that fail, and graphs that are wrong.
extension OperationGraphTests {
    // MARK: Failure

    @Test func `with .stop, a failure cancels the others and is thrown with what had come`() async throws {
        let slow = ControlledDataProvider<Void, Int>()
        let bad = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>()
        let done = graph.add("done", ValueDataProvider<Void, Int>(1))
        graph.add("slow", slow, after: done)
        let failing = graph.add("bad", bad, after: done)
        graph.add("never", step("never"), after: failing)
        let run = graph.start()
        let request = try await slow.waitForRequest()
        try await bad.waitForRequest().fail(Offline())
        let error = await #expect(throws: OperationGraphError.self) { try await run.results }
        guard case .failed("bad", because: is Offline, let results) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(request.isCancelled)
        #expect(results[done] == 1)
        #expect(results.skipped == ["never"])
        #expect(log.entries.isEmpty)
    }

    @Test func `whenever a failure stops the others, they were either asked or are skipped, and only those count`()
        async throws
    {
        try await explore(seeds: 0..<Volume.of(500, normally: 50)) { _ in
            let asked = Log()
            let most = Mutex(0.0)
            var graph = OperationGraph<Void>()
            let others = (0..<5).map { "\($0)" }
            for name in others {
                graph.add(
                    name,
                    ClosureDataProvider<Void, Int> { _ in
                        asked.add(name)
                        return 1
                    })
            }
            graph.add("bad", ClosureDataProvider<Void, Int> { _ in throw Offline() })
            let call = Integrator(graph).prepareCall()
                .onProgress { progress in most.withLock { $0 = max($0, progress.fraction) } }.call()
            do {
                _ = try await call.value
                Issue.record("It has succeeded though a node of it fails.")
            } catch OperationGraphError.failed("bad", _, let results) {
                #expect(results.skipped == others.filter { !asked.entries.contains($0) })
            }
            let share: Double = Double(asked.entries.count) / 6
            let told: Double = most.withLock { $0 }
            #expect(told <= share + 0.001)
        }
    }

    @Test func `once a request is cancelled, no node is asked that is to run but hasn't begun`() async throws {
        try await explore(seeds: 0..<Volume.of(500, normally: 50)) { executor in
            let asked = Log()
            let task = Mutex<Task<OperationGraphResults, any Error>?>(nil)
            var graph = OperationGraph<Void>()
            for name in ["first", "second", "third"] {
                graph.add(name, ClosureDataProvider<Void, Void> { _ in asked.add(name) })
            }
            graph.add(
                "cancels",
                ClosureDataProvider<Void, Void> { _ in
                    task.withLock { $0 }?.cancel()
                    asked.add("cancelled")
                })
            let request = Task(executorPreference: executor) { [graph] in try await graph.request() }
            task.withLock { $0 = request }
            await #expect(throws: CancellationError.self) { try await request.value }
            #expect(asked.entries.last == "cancelled")
        }
    }

    @Test func `a node that is cancelled by itself cancels the request, which nobody repeats`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        let search = Integrator(provider, executing: .latest)
        var graph = OperationGraph<Void>()
        graph.add("search", search)
        let slow = ControlledDataProvider<Void, Int>()
        graph.add("slow", slow)
        let retried = graph.retry(3) { [log] _ in
            log.add("when")
            return true
        }
        let call = Integrator(retried).prepareCall()
            .onError { [log] in log.add("error \($0)") }
            .onCancel { [log] in log.add("cancel \($0)") }
            .call()
        _ = try await provider.waitForRequest()
        let other = try await slow.waitForRequest()
        let newer = search.prepareCall().call()
        try await provider.waitForRequest().answer(1)
        #expect(try await newer.value == 1)
        await call.finish()
        #expect(log.entries == ["cancel superseded"] && other.isCancelled && slow.requestCount == 1)
    }

    @Test func `what a run has come to is to be had before its end, and after a cancel`() async throws {
        let (done, waiting) = (ControlledDataProvider<Void, Int>(), ControlledDataProvider<Void, Int>())
        var graph = OperationGraph<Void>()
        let first = graph.add("first", done)
        let second = graph.add("second", waiting, after: first)
        graph.add("third", step("third"), after: second)
        let run = graph.start()
        try await done.waitForRequest().answer(1)
        let request = try await waiting.waitForRequest()
        #expect(run.resultsSoFar[first] == 1 && run.resultsSoFar.skipped == ["second", "third"])
        run.cancel()
        await #expect(throws: IntegrationError.self) { try await run.results }
        try await request.waitUntilEnded()
        #expect(run.resultsSoFar[first] == 1 && run.resultsSoFar[second] == nil && !run.resultsSoFar.isComplete)
        graph.addDependency(of: first, on: second)
        #expect(graph.start().resultsSoFar.skipped == ["first", "second", "third"])
    }

    @Test func `with .carryOn, what depends on a failure is skipped, and the rest goes on`() async throws {
        var graph = OperationGraph<Void>(onFailure: .carryOn)
        let bad = graph.add("bad", ClosureDataProvider<Void, Int> { _ in throw Offline() })
        let below = graph.add("below", step("below"), after: bad)
        graph.add("further below", step("further"), after: below)
        let good = graph.add("good", step("good"))
        let results = try await graph.request()
        #expect(results[good] == "good")
        #expect(results.skipped == ["below", "further below"])
        guard case .failure(is Offline) = results.outcome(of: bad) else {
            Issue.record("\(String(describing: results.outcome(of: bad)))")
            return
        }
        #expect(!results.isComplete)
    }

    @Test func `a cancel reaches every node that runs`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>()
        graph.add("one", provider)
        let other = graph.add("other", provider)
        graph.add("never", step("never"), after: other)
        let task = Task { [graph] in try await graph.request() }
        let requests = [try await provider.waitForRequest(), try await provider.waitForRequest()]
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(requests.allSatisfy { $0.isCancelled })
        #expect(log.entries.isEmpty)
    }

    @Test func `asked by a task that has been cancelled, it asks no node`() async {
        var graph = OperationGraph<Void>()
        graph.add("never", step("never"))
        let task = Task { [graph] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await graph.request()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.entries.isEmpty)
    }

    // MARK: Bad graphs

    @Test func `a cycle is refused by name, and nothing is asked`() async throws {
        var graph = OperationGraph<Void>()
        let first = graph.add("first", step("first"))
        let second = graph.add("second", step("second"), after: first)
        let third = graph.add("third", step("third"), after: second)
        graph.addDependency(of: first, on: third)
        let error = #expect(throws: OperationGraphError.self) { try graph.validate() }
        #expect(error?.description == "The nodes wait for one another: first → third → second → first.")
        let refused = graph
        await #expect(throws: OperationGraphError.self) { try await refused.request() }
        #expect(log.entries.isEmpty)
    }

    @Test func `a node of another graph is refused by name`() async throws {
        var (one, other) = (OperationGraph<Void>(), OperationGraph<Void>())
        let stranger = other.add("stranger", step("stranger"))
        one.add("node", step("node"), after: stranger)
        let error = #expect(throws: OperationGraphError.self) { try one.validate() }
        #expect(error?.description == "The node “stranger” belongs to another graph.")
        #expect(try await other.request()[stranger] == "stranger")
    }

    @Test func `a node of another graph that stands at the same place is a stranger everywhere`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var (one, other) = (OperationGraph<Void>(), OperationGraph<Void>())
        let own = one.add("own", provider)
        let stranger = other.add("stranger", ValueDataProvider<Void, Int>(2))
        var wrong = one
        wrong.addDependency(of: stranger, on: own)
        let error = #expect(throws: OperationGraphError.self) { try wrong.validate() }
        #expect(error?.description == "The node “stranger” belongs to another graph.")
        let run = one.start()
        let request = try await provider.waitForRequest()
        run.pause(stranger)
        #expect(request.pauseControl?.isPaused == false)
        request.answer(1)
        let results = try await run.results
        #expect(results[own] == 1 && results[stranger] == nil && results.outcome(of: stranger) == nil)
    }
}
