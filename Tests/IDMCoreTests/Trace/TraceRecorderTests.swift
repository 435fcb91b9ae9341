import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("TraceRecorder", .inScope, .timeLimit(.ample))
struct TraceRecorderTests {
    private let clock = ManualClock()
    private let trace: TraceRecorder

    init() {
        trace = TraceRecorder(clock: clock)
    }

    /// The entries in short: name, times in milliseconds, result, and the index of the enclosing span.
    private var lines: [String] { lines(of: trace) }

    private func lines(of trace: TraceRecorder) -> [String] {
        trace.entries.map { entry in
            let end = entry.isMark ? "mark" : entry.end.map { "\($0 / .milliseconds(1))" } ?? "open"
            let parent = entry.parent.map { " in \($0)" } ?? ""
            let detail = entry.detail.isEmpty ? "" : " \(entry.detail)"
            return "\(entry.track)/\(entry.name) \(entry.start / .milliseconds(1))–\(end)\(detail)\(parent)"
        }
    }

    @Test("Spans and marks keep their times, and enclosed entries stand on the outer track")
    func spansAndMarks() async {
        let outer = trace.begin("load", on: "app")
        await clock.advance(by: .milliseconds(5))
        let inner = trace.begin("parse", on: "elsewhere", within: outer)
        inner.mark("half")
        trace.mark("tap", on: "user", within: TraceRecorder(clock: clock).begin("of another recorder", on: "x"))
        await clock.advance(by: .milliseconds(5))
        inner.end()
        outer.end("done")
        outer.end("again")
        trace.add("request", on: "http", lasting: .milliseconds(4), detail: "success 200").mark("redirect")
        trace.add("older than the recorder", on: "http", lasting: .seconds(1))

        #expect(
            lines == [
                "app/load 0.0–10.0 done", "app/parse 5.0–10.0 in 0", "app/half 5.0–mark in 1", "user/tap 5.0–mark",
                "http/request 6.0–10.0 success 200", "http/redirect 10.0–mark in 4",
                "http/older than the recorder 0.0–10.0",
            ])
    }

    @Test("Entries beyond the limit are counted, and the first ones are kept")
    func limit() {
        let trace = TraceRecorder(clock: clock, limit: 2)
        let first = trace.begin("first", on: "a")
        trace.mark("second", on: "a")
        let third = trace.begin("third", on: "a")
        third.mark("fourth")
        third.end()
        first.end()

        #expect(lines(of: trace) == ["a/first 0.0–0.0", "a/second 0.0–mark"])
        #expect(trace.omittedCount == 2 && trace.chromeTrace.contains("\"omitted\":2"))
        #expect(trace.page.contains("2 more were not kept"))
    }

    @Test("Calls in a queue show how long they wait and run, and their results")
    func queue() async throws {
        let provider = ControlledDataProvider<String, Int>()
        let numbers = Integrator(provider, executing: .queue, clock: clock)
        trace.watch(numbers, as: "numbers") { "input \($0)" }
        let first = numbers.prepareCall("a").call()
        let second = numbers.prepareCall("b").call()
        let third = numbers.prepareCall("c").call()
        let request = try await provider.waitForRequest()
        await clock.advance(by: .milliseconds(5))
        third.cancel()
        await third.finish()
        request.answer(1)
        await first.finish()
        let next = try await provider.waitForRequest()
        await clock.advance(by: .milliseconds(5))
        next.fail(CancellationError())
        await second.finish()

        // The entries of calls off actors come in any order.
        let withoutOrder = lines.map { $0.replacing(#/ in \d$/#, with: "") }
        #expect(
            withoutOrder.sorted() == [
                "numbers/input a 0.0–5.0 success", "numbers/input b 0.0–10.0 cancelled: cancelled",
                "numbers/input c 0.0–5.0 cancelled: cancelled", "numbers/runs 0.0–5.0", "numbers/runs 5.0–10.0",
                "numbers/waits 0.0–0.0", "numbers/waits 0.0–5.0", "numbers/waits 0.0–5.0",
            ])
        #expect(trace.entries.count { $0.parent != nil } == 5)
    }

    @Test("Retries are marks, and only the type of an error is recorded")
    func retries() async throws {
        struct Secret: Error {
            let token = "abc"
        }
        let provider = StubDataProvider<Int, Int>(
            answers: [.failure(Secret()), .success(1), .failure(IntegrationError.model(Secret()))])
        let numbers = Integrator(provider, clock: clock)
        trace.watch(numbers, as: "numbers")
        await numbers.prepareCall(1).retry(1).call().finish()
        await numbers.prepareCall(1).call().finish()

        #expect(
            lines == [
                "numbers/call 0.0–0.0 success", "numbers/waits 0.0–0.0 in 0", "numbers/runs 0.0–0.0 in 0",
                "numbers/retry 1 0.0–mark in 2",
                "numbers/call 0.0–0.0 failure: Secret", "numbers/waits 0.0–0.0 in 4", "numbers/runs 0.0–0.0 in 4",
            ])
        #expect(!trace.chromeTrace.contains("abc") && !trace.page.contains("abc"))
    }

    @Test("An error out of a stream is recorded with its own type")
    func streamError() async {
        struct Broken: Error {}
        let stream = AsyncSequenceDataProvider { (_: Int) in
            AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Broken()) }
        }
        let traced = stream.traced("stream", by: trace)
        var values = traced.values(for: 0).makeAsyncIterator()
        _ = try? await values.next()
        _ = try? await traced.request(0)

        #expect(trace.entries.map(\.detail) == ["failure: Broken", "failure: Broken"])
    }

    @Test("A recorded call still delivers before call() returns")
    @MainActor
    func sameTurn() async {
        let numbers = Integrator(ValueDataProvider<Int, Int>(7))
        trace.watch(numbers, as: "numbers")
        var values: [Int] = []
        let task = numbers.prepareCall(1).onSuccess { values.append($0) }.onCompletion { values.append(0) }.call()
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(values == [7, 0]) }
        await task.finish()

        #expect(lines.first == "numbers/call 0.0–0.0 success")
    }

    @Test("A recorder doesn't hold the integrators that it records")
    func release() async throws {
        let leaks = LeakTracker()
        do {
            let numbers = leaks.track(Integrator(ValueDataProvider<Int, Int>(7)))
            trace.watch(numbers, as: "numbers")
            _ = try await numbers.request(1)
        }
        leaks.verify()
    }

    @Test("A traced provider records its requests inside a composition")
    func tracedProvider() async throws {
        let remote = ControlledDataProvider<Int, Int>()
        let provider = remote.traced("remote", by: trace).map { $0 + 1 }
        async let answer = provider.request(1)
        let request = try await remote.waitForRequest()
        await clock.advance(by: .milliseconds(3))
        request.answer(1)

        #expect(try await answer == 2 && lines == ["remote/remote 0.0–3.0 success"])
        #expect(provider.structure.description == (remote.map { $0 + 1 }).structure.description)
    }

    @Test("A traced stream records its values, its end and its failure")
    func tracedStream() async throws {
        let stream = ValueDataProvider<Int, Int>(1).merged(with: ValueDataProvider(2)).traced("both", by: trace)
        var values = [try await stream.request(0)]
        var iterator = stream.values(for: 0).makeAsyncIterator()
        await clock.advance(by: .milliseconds(5))
        while let value = try await iterator.next() { values.append(value) }
        struct Broken: Error {}
        let failing = StubDataProvider<Int, Int>(failing: Broken()).traced("broken", by: trace)
        await #expect(throws: Broken.self) { try await failing.request(0) }

        #expect(values == [2, 1, 2] && stream.deliversMany)
        #expect(
            lines == [
                "both/both 0.0–0.0 success", "both/both 5.0–5.0 success", "both/value 5.0–mark in 1",
                "both/value 5.0–mark in 1", "broken/broken 5.0–5.0 failure: Broken",
            ])
    }
}
