import IDMCore
import IDMOperations
import IDMTesting
import TestSupport
import Testing

@Suite("A graph of providers", .timeLimit(.ample))
struct OperationGraphTests {
    let log = Log()

    func step(_ name: String) -> ClosureDataProvider<Void, String> {
        ClosureDataProvider { [log] _ in
            log.add(name)
            return name
        }
    }

    // MARK: Order and values

    @Test func `each node gets what it depends on, and the results are found by node`() async throws {
        var graph = OperationGraph<Int>()
        let doubled = graph.add("doubled", ClosureDataProvider { (number: Int) in number * 2 })
        let text = graph.add("text", ClosureDataProvider { (number: Int) in "\(number)" }, from: doubled)
        let both = graph.add(
            "both", ClosureDataProvider { (pair: String) in pair + "!" }, from: doubled, text
        ) { input, number, text in "\(input) \(number) \(text)" }
        let results = try await graph.request(4)
        #expect(results[doubled] == 8)
        #expect(results[text] == "8")
        #expect(results[both] == "4 8 8!")
        #expect(results.isComplete && results.skipped.isEmpty)
    }

    @Test func `a node starts after those that it waits for, and beside the others`() async throws {
        let (left, right) = (ControlledDataProvider<Void, Int>(), ControlledDataProvider<Void, Int>())
        let (last, beside) = (ControlledDataProvider<Void, Int>(), ControlledDataProvider<Void, Int>())
        var graph = OperationGraph<Void>()
        let first = graph.add("left", left)
        let second = graph.add("right", right)
        graph.add("last", last, after: first, second)
        graph.add("beside", beside, after: first)
        let run = graph.start()
        let (one, other) = (try await left.waitForRequest(), try await right.waitForRequest())
        one.answer(1)
        try await beside.waitForRequest().answer(1)
        #expect(last.requestCount == 0)
        other.answer(2)
        try await last.waitForRequest().answer(3)
        #expect(try await run.results.isComplete)
    }

    @Test func `an empty graph answers at once`() async throws {
        #expect(try await OperationGraph<Void>().request().isComplete)
    }

    @Test func `so many nodes run at the same time`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>(width: 2)
        for number in 0..<4 { graph.add("\(number)", provider) }
        let run = graph.start()
        let (first, second) = (try await provider.waitForRequest(), try await provider.waitForRequest())
        #expect(provider.requestCount == 2)
        first.answer(1)
        let third = try await provider.waitForRequest()
        #expect(provider.requestCount == 3)
        second.answer(2)
        third.answer(3)
        try await provider.waitForRequest().answer(4)
        _ = try await run.results
    }

    @Test func `a value that is an optional stays one`() async throws {
        var graph = OperationGraph<Void>()
        let nothing = graph.add("nothing", ValueDataProvider<Void, Int?>(nil))
        let isNothing = graph.add("test", ClosureDataProvider { (number: Int?) in number == nil }, from: nothing)
        let results = try await graph.request()
        #expect(results[isNothing] == true)
        #expect(results.outcome(of: nothing) == .success(nil))
    }

    @Test func `a request is a run of its own, and a copy may be changed`() async throws {
        var graph = OperationGraph<Void>()
        let first = graph.add("first", step("first"))
        let original = graph
        let second = graph.add("second", step("second"), after: first)
        let other = try await original.request()
        #expect(other[first] == "first" && other[second] == nil)
        #expect(try await graph.request()[second] == "second")
        #expect(try await graph.request()[second] == "second")
        #expect(log.entries.filter { $0 == "first" }.count == 3)
    }

    @Test func `a run that nobody holds goes on`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>()
        let first = graph.add("first", provider)
        graph.add("second", step("second"), after: first)
        _ = graph.start()
        let request = try await provider.waitForRequest()
        request.answer(1)
        try await log.contains("second")
        #expect(!request.isCancelled)
    }

    // MARK: Pausing

    @Test func `a paused run starts nothing and holds back what comes`() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let provider = ControlledDataProvider<Void, Int>()
            let after = ControlledDataProvider<Void, Int>()
            var graph = OperationGraph<Void>()
            let node = graph.add("node", provider)
            graph.add("after", after, after: node)
            let run = graph.start()
            let request = try await provider.waitForRequest()
            run.pause()
            #expect(request.pauseControl?.isPaused == true)
            request.answer(1)
            await clock.rest()
            #expect(after.requestCount == 0)
            run.resume()
            try await after.waitForRequest().answer(2)
            #expect(try await run.results.isComplete)
        }
    }

    @Test func `a node is paused by itself, and stays so when the run is resumed`() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let provider = ControlledDataProvider<Void, Int>()
            let held = ControlledDataProvider<Void, Int>()
            var graph = OperationGraph<Void>()
            let first = graph.add("first", provider)
            let second = graph.add("second", held, after: first)
            let third = graph.add("third", provider, after: first)
            let run = graph.start()
            run.pause(second)
            run.pause()
            run.resume()
            try await provider.waitForRequest().answer(1)
            try await provider.waitForRequest().answer(2)
            await clock.rest()
            #expect(held.requestCount == 0)
            run.resume(second)
            try await held.waitForRequest().answer(3)
            let results = try await run.results
            #expect(results[second] == 3 && results[third] == 2)
        }
    }

    @Test func `a paused node holds back its failure, which would stop the others`() async throws {
        try await TestScope.run {
            let (clock, bad) = (ManualClock(), ControlledDataProvider<Void, Int>())
            var graph = OperationGraph<Void>(width: 2)
            let paused = graph.add("paused", bad)
            let first = graph.add("first", step("first"))
            let second = graph.add("second", step("second"), after: first)
            let provider = ControlledDataProvider<Void, Int>()
            let last = graph.add("last", provider, after: second)
            let run = graph.start()
            let failing = try await bad.waitForRequest()
            run.pause(paused)
            failing.fail(Offline())
            await clock.rest()
            // Nodes go on to start and to end beside it.
            try #require(provider.requestCount == 1)
            let other = try await provider.waitForRequest()
            #expect(!other.isCancelled && run.resultsSoFar.outcome(of: paused) == nil)
            other.answer(1)
            await clock.rest()
            run.resume(paused)
            let error = await #expect(throws: OperationGraphError.self) { try await run.results }
            guard case .failed("paused", because: is Offline, let results) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(results[second] == "second" && results[last] == 1)
        }
    }

    @Test func `a value that was held back when the others failed is none`() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            let (provider, bad) = (ControlledDataProvider<Void, Int>(), ControlledDataProvider<Void, Int>())
            var graph = OperationGraph<Void>()
            let held = graph.add("held", provider)
            graph.add("bad", bad)
            let run = graph.start()
            let (request, failing) = (try await provider.waitForRequest(), try await bad.waitForRequest())
            run.pause(held)
            request.answer(1)
            await clock.rest()
            failing.fail(Offline())
            let error = await #expect(throws: OperationGraphError.self) { try await run.results }
            guard case .failed("bad", because: is Offline, let results) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(results[held] == nil && results.outcome(of: held) == .cancelled(.cancelled))
            #expect(results.skipped == [])
        }
    }

    @Test(arguments: [true, false])
    func `asked under a control that is paused, it starts when that is resumed`(atRest: Bool) async throws {
        try await explore(seeds: 0..<Volume.of(200, normally: 20)) { executor in
            let control = PauseControl()
            control.pause()
            let (clock, provider) = (ManualClock(), ControlledDataProvider<Void, Int>())
            var graph = OperationGraph<Void>()
            let node = graph.add("node", provider)
            let task = Task(executorPreference: executor) { [graph] in
                try await control.bind { try await graph.request() }
            }
            async let resumed: Void = {
                // As far as it comes, to its first node, or anywhere on its way there.
                if atRest { await clock.rest() }
                try #require(provider.requestCount == 0)
                control.resume()
            }()
            try await provider.waitForRequest().answer(1)
            try await resumed
            try #require(try await task.value[node] == 1)
        }
    }

    @Test func `pauses and resumes that race leave the nodes as they leave the run`() async throws {
        let (provider, other) = (ControlledDataProvider<Void, Int>(), ControlledDataProvider<Void, Int>())
        var graph = OperationGraph<Void>()
        let node = graph.add("paused by itself", other)
        for number in 0..<3 { graph.add("\(number)", provider) }
        let run = graph.start()
        let single = try await other.waitForRequest()
        var requests: [ControlledRequest<Void, Int>] = []
        for _ in 0..<3 { requests.append(try await provider.waitForRequest()) }
        for _ in 0..<200 {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { run.pause() }
                group.addTask { run.resume() }
                group.addTask { run.pause(node) }
                group.addTask { run.resume(node) }
            }
            #expect(requests.allSatisfy { $0.pauseControl?.isPaused == run.isPaused })
        }
        run.resume()
        run.resume(node)
        #expect(single.pauseControl?.isPaused == false)
        for request in requests + [single] { request.answer(1) }
        #expect(try await run.results.isComplete)
    }

    @Test func `a cancel goes through a pause`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>()
        graph.add("node", provider)
        let run = graph.start()
        _ = try await provider.waitForRequest()
        run.pause()
        run.cancel()
        await #expect(throws: IntegrationError.self) { try await run.results }
    }

    @Test func `an operation around a graph pauses it as a whole`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>()
        let node = graph.add("node", provider)
        let operation = DataProviderOperation(graph)
        operation.start()
        let request = try await provider.waitForRequest()
        operation.pause()
        #expect(request.pauseControl?.isPaused == true)
        request.answer(1)
        operation.resume()
        #expect(request.pauseControl?.isPaused == false)
        #expect(try await operation.value[node] == 1)
    }

    // MARK: Progress and pictures

    @Test func `progress is the mean of the nodes'`() async throws {
        let provider = ControlledDataProvider<Void, Int>()
        var graph = OperationGraph<Void>()
        graph.add("one", provider)
        graph.add("other", provider)
        let call = Integrator(graph).prepareCall().onProgress { [log] in log.add("\($0.fraction)") }.call()
        let (one, other) = (try await provider.waitForRequest(), try await provider.waitForRequest())
        one.reporter?.report(fraction: 0.5)
        try await log.contains("0.25")
        one.answer(1)
        try await log.contains("0.5")
        other.answer(2)
        await call.finish()
        #expect(log.entries.last == "1.0")
    }

    @Test func `nodes that fail and nodes that are skipped count as done`() async throws {
        var graph = OperationGraph<Void>(onFailure: .carryOn)
        let bad = graph.add("bad", ClosureDataProvider<Void, Int> { _ in throw Offline() })
        let below = graph.add("below", step("below"), after: bad)
        graph.add("further below", step("further"), after: below)
        let good = graph.add("good", step("good"))
        let call = Integrator(graph).prepareCall().onProgress { [log] in log.add("\($0.fraction)") }.call()
        #expect(try await call.value[good] == "good")
        await call.finish()
        #expect(log.entries.last == "1.0")
    }

    @Test func `its pictures name every node and every dependency once`() {
        var graph = OperationGraph<Void>()
        let first = graph.add("a \"quoted\"\n<name> #1\\", step("a"))
        let second = graph.add("b", step("b"), after: first, first)
        graph.addDependency(of: second, on: first)
        #expect(
            graph.dot == """
                digraph {
                    rankdir=LR;
                    n0 [label="a \\"quoted\\" <name> #1\\\\"];
                    n1 [label="b"];
                    n0 -> n1;
                }
                """)
        #expect(
            graph.mermaid == """
                graph LR
                    n0["a #quot;quoted#quot; #lt;name#gt; #35;1\\"]
                    n1["b"]
                    n0 --> n1
                """)
        var plain = OperationGraph<Void>()
        let top = plain.add("all\ncategories", step("a"))
        plain.add("store", step("b"), after: top)
        #expect(
            plain.outline == """
                all categories
                store          ◀─ all categories
                """)
    }

    @Test(arguments: [
        ("\"\u{301}", "\\\"\u{301}", "#quot;\u{301}"), ("`&lt;`", "`&lt;`", "#96;#amp;lt;#96;"), ("", "", " "),
        ("save 100%%{draft}", "save 100%%{draft}", "save 100#37;#37;{draft}"),
    ])
    func `no name breaks out of its pictures`(name: String, dot: String, mermaid: String) {
        var graph = OperationGraph<Void>()
        graph.add(name, step("a"))
        #expect(graph.dot.utf8.contains("n0 [label=\"\(dot)\"];".utf8))
        #expect(graph.mermaid.utf8.contains("n0[\"\(mermaid)\"]".utf8))
    }

    // MARK: Size

    @Test func `ten thousand nodes in a row, and ten thousand beside each other`() async throws {
        var row = OperationGraph<Void>()
        var last = row.add("0", ValueDataProvider<Void, Int>(0))
        for number in 1..<10_000 {
            last = row.add("\(number)", ClosureDataProvider { (before: Int) in before + 1 }, from: last)
        }
        #expect(try await row.request()[last] == 9_999)

        var fan = OperationGraph<Void>()
        let all = (0..<10_000).map { fan.add("\($0)", ValueDataProvider<Void, Int>(1)) }
        let end = fan.add("end", ValueDataProvider<Void, Int>(2))
        for node in all { fan.addDependency(of: end, on: node) }
        #expect(try await fan.request()[end] == 2)
    }
}
