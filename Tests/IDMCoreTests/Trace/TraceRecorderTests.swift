import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("A trace recorder", .inScope, .timeLimit(.ample))
struct TraceRecorderTests {
    private let clock = ManualClock()
    private let trace: TraceRecorder

    init() {
        trace = TraceRecorder(clock: clock)
    }

    /// The entries in short: name, times in milliseconds, what became of it.
    private var lines: [String] {
        trace.entries.map { entry in
            let end = entry.end.map { "\($0 / .milliseconds(1))" } ?? ""
            return "\(entry.track)/\(entry.name) \(entry.start / .milliseconds(1))–\(end) \(entry.detail)"
        }
    }

    @Test("keeps spans and marks with their times, and parts with the whole")
    func spansAndMarks() async {
        let whole = trace.begin("load", on: "app")
        await clock.advance(by: .milliseconds(5))
        let part = trace.begin("parse", on: "elsewhere", within: whole)
        part.mark("half")
        trace.mark("tap", on: "user")
        await clock.advance(by: .milliseconds(5))
        part.end()
        whole.end("done")
        whole.end("again")
        #expect(
            lines == [
                "app/load 0.0–10.0 done", "app/parse 5.0–10.0 ", "app/half 5.0–5.0 ", "user/tap 5.0–5.0 ",
            ])
        #expect(trace.entries.map(\.parent) == [nil, 0, 1, nil])
        #expect(trace.entries.map(\.isMark) == [false, false, true, true])
    }

    @Test("takes a span that has ended already, which began no earlier than the recorder")
    func spansOfThePast() async {
        await clock.advance(by: .milliseconds(10))
        trace.add("request", on: "http", lasting: .milliseconds(4), detail: "success 200").mark("redirect")
        trace.add("older", on: "http", lasting: .seconds(1))
        #expect(lines == ["http/request 6.0–10.0 success 200", "http/redirect 10.0–10.0 ", "http/older 0.0–10.0 "])
    }

    @Test("counts what it has no room for, and keeps the first")
    func limit() {
        let trace = TraceRecorder(clock: clock, limit: 2)
        let first = trace.begin("first", on: "a")
        trace.mark("second", on: "a")
        let third = trace.begin("third", on: "a")
        third.mark("fourth")
        third.end()
        first.end()
        #expect(trace.entries.map(\.name) == ["first", "second"])
        #expect(trace.entries.allSatisfy { $0.end != nil })
        #expect(trace.omittedCount == 2)
        #expect(trace.page.contains("2 more were not kept"))
        #expect(trace.chromeTrace.contains("\"omitted\":2"))
    }

    @Test("a span of another recorder is nobody's whole")
    func strangers() {
        let stranger = TraceRecorder(clock: clock).begin("strange", on: "x")
        trace.mark("mine", on: "y", within: stranger)
        #expect(trace.entries.map(\.parent) == [nil])
        #expect(trace.entries.map(\.track) == ["y"])
    }

    @Test("records how long calls wait and run, in a queue, and how they end")
    func queue() async throws {
        let provider = ControlledDataProvider<String, Int>()
        let numbers = Integrator(provider, executing: .queue, clock: clock)
        trace.watch(numbers, as: "numbers") { "input \($0)" }
        let first = numbers.prepareCall("a").call()
        let second = numbers.prepareCall("b").call()
        let third = numbers.prepareCall("c").call()
        let request = try await provider.nextRequest()
        await clock.advance(by: .milliseconds(5))
        third.cancel()
        await third.finish()
        request.answer(1)
        await first.finish()
        let next = try await provider.nextRequest()
        await clock.advance(by: .milliseconds(5))
        next.fail(CancellationError())
        await second.finish()
        #expect(
            lines
                == [
                    "numbers/input a 0.0–5.0 success", "numbers/waits 0.0–0.0 ",
                    "numbers/input b 0.0–10.0 cancelled: cancelled", "numbers/waits 0.0–5.0 ",
                    "numbers/input c 0.0–5.0 cancelled: cancelled", "numbers/waits 0.0–5.0 ",
                    "numbers/runs 0.0–5.0 ", "numbers/runs 5.0–10.0 ",
                ].reordered(like: lines))
        #expect(trace.entries.compactMap(\.parent).count == 5)
    }

    @Test("marks retries and values, and tells of an error its type and nothing else")
    func retriesAndValues() async throws {
        struct Secret: Error {
            let token = "abc"
        }
        let provider = StubDataProvider<Int, Int>(
            answers: [.failure(Secret()), .success(1), .failure(Secret())])
        let numbers = Integrator(provider, clock: clock)
        trace.watch(numbers, as: "numbers")
        await numbers.prepareCall(1).retry(1).call().finish()
        await numbers.prepareCall(1).call().finish()
        #expect(
            lines == [
                "numbers/call 0.0–0.0 success", "numbers/waits 0.0–0.0 ", "numbers/runs 0.0–0.0 ",
                "numbers/retry 1 0.0–0.0 ",
                "numbers/call 0.0–0.0 failure: Secret", "numbers/waits 0.0–0.0 ", "numbers/runs 0.0–0.0 ",
            ])
        #expect(!trace.chromeTrace.contains("abc") && !trace.page.contains("abc"))
    }

    @Test("records calls that are turned away")
    func ignored() async throws {
        let provider = ControlledDataProvider<Int, Int>()
        let numbers = Integrator(provider, executing: .only)
        trace.watch(numbers, as: "numbers")
        let task = numbers.prepareCall(1).call()
        await numbers.prepareCall(2).call().finish()
        try await provider.nextRequest().answer(1)
        await task.finish()
        #expect(trace.entries.filter { $0.parent == nil }.map(\.detail) == ["success", "cancelled: ignored"])
        #expect(trace.entries.filter { $0.name == "runs" }.count == 1)
    }

    @Test("changes nothing: what is delivered before a call returns still is")
    @MainActor
    func sameTurn() async {
        let numbers = Integrator(ValueDataProvider<Int, Int>(7))
        trace.watch(numbers, as: "numbers")
        var heard: [Int] = []
        let task = numbers.prepareCall(1).onSuccess { heard.append($0) }.onCompletion { heard.append(0) }.call()
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(heard == [7, 0]) }
        await task.finish()
        #expect(lines.first == "numbers/call 0.0–0.0 success")
    }

    @Test("lets go of what it knew of a call when that has ended, and holds no integrator")
    func release() async throws {
        let leaks = LeakTracker()
        do {
            let numbers = leaks.track(Integrator(ValueDataProvider<Int, Int>(7)))
            trace.watch(numbers, as: "numbers")
            #expect(try await numbers.request(1) == 7)
        }
        leaks.verify()
    }

    @Test("records a provider's requests, wherever it stands in a composition")
    func tracedProvider() async throws {
        let remote = ControlledDataProvider<Int, Int>()
        let provider = remote.traced("remote", by: trace).map { $0 + 1 }
        async let answer = provider.request(1)
        let request = try await remote.nextRequest()
        await clock.advance(by: .milliseconds(3))
        request.answer(1)
        #expect(try await answer == 2)
        #expect(lines == ["remote/remote 0.0–3.0 success"])
        #expect(provider.structure.description == (remote.map { $0 + 1 }).structure.description)
    }

    @Test("records the values of a stream, its end and its failure")
    func tracedStream() async throws {
        let stream = ValueDataProvider<Int, Int>(1).merged(with: ValueDataProvider(2)).traced("both", by: trace)
        #expect(stream.deliversMany)
        #expect(try await stream.request(0) == 2)
        var values: [Int] = []
        for try await value in stream.values(for: 0) { values.append(value) }
        #expect(values == [1, 2])
        struct Broken: Error {}
        let failing = StubDataProvider<Int, Int>(failing: Broken()).traced("broken", by: trace)
        await #expect(throws: Broken.self) { try await failing.request(0) }
        #expect(
            lines == [
                "both/both 0.0–0.0 success", "both/both 0.0–0.0 success", "both/value 0.0–0.0 ",
                "both/value 0.0–0.0 ", "broken/broken 0.0–0.0 failure: Broken",
            ])
    }

    @Test("the span of a stream begins when its first value is asked for")
    func tracedStreamBegins() async throws {
        let stream = ValueDataProvider<Int, Int>(1).merged(with: ValueDataProvider(2)).traced("both", by: trace)
        var iterator = stream.values(for: 0).makeAsyncIterator()
        await clock.advance(by: .milliseconds(5))
        #expect(try await iterator.next() == 1)
        #expect(lines == ["both/both 5.0– ", "both/value 5.0–5.0 "])
    }

    @Test("a traced provider's progress is heard as if it weren't traced")
    func tracedProgress() async throws {
        let provider = ClosureDataProvider { (input: Int) in
            IntegrationProgress.report(completed: 1, total: 4)
            return input
        }
        let log = ProgressLog()
        let both = provider.traced("a", by: trace) >>>> provider.traced("b", by: trace)
        _ = try await log.reporter.ambient { try await both.request(1) }
        #expect(log.fractions == [0.125, 0.5, 0.625, 1])
    }
}

extension [String] {
    /// These lines in the order in which they stand in others, where order doesn't matter.
    fileprivate func reordered(like others: [String]) -> [String] {
        sorted() == others.sorted() ? others : self
    }
}
