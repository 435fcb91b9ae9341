import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("What a trace is written as", .timeLimit(.ample))
struct TraceFormatsTests {
    private let clock = ManualClock()
    private let trace: TraceRecorder

    init() {
        trace = TraceRecorder(clock: clock)
    }

    private struct Chrome: Decodable {
        struct Event: Decodable, Equatable {
            var ph: String
            var name: String
            var tid: Int
            var ts: Double?
            var dur: Double?
            var args: Arguments
        }

        struct Arguments: Decodable, Equatable {
            var name: String?
            var sort_index: Int?
            var outcome: String?
        }

        let traceEvents: [Event]
    }

    private func chrome() throws -> [Chrome.Event] {
        try JSONDecoder().decode(Chrome.self, from: Data(trace.chromeTrace.utf8)).traceEvents
    }

    @Test("Chrome's format has a row for each track, and more where spans overlap")
    func rows() async throws {
        let first = trace.begin("one", on: "users")
        await clock.advance(by: .microseconds(1500))
        let second = trace.begin("two", on: "users")
        trace.begin("part", on: "users", within: second).end()
        trace.mark("tap", on: "screen")
        await clock.advance(by: .nanoseconds(1))
        first.end("success")
        trace.begin("three", on: "users").end()
        let events = try chrome()
        #expect(events.filter { $0.name == "thread_name" }.map(\.args.name) == ["users", "users 2", "screen"])
        #expect(events.filter { $0.ph == "X" || $0.ph == "i" }.map(\.name) == ["one", "three", "two", "part", "tap"])
        #expect(events.first { $0.name == "one" }?.dur == 1500.001)
        #expect(events.first { $0.name == "one" }?.args.outcome == "success")
        #expect(events.first { $0.name == "two" }?.ts == 1500)
        #expect(events.first { $0.name == "two" }?.args.outcome == "goes on")
        #expect(events.first { $0.name == "part" }?.tid == 2)
        #expect(events.first { $0.name == "tap" }?.ph == "i")
        #expect(events.first { $0.name == "tap" }?.dur == nil)
    }

    @Test("a span that goes on is drawn to the moment of writing")
    func openSpans() async throws {
        _ = trace.begin("open", on: "a")
        await clock.advance(by: .milliseconds(2))
        #expect(try chrome().last?.dur == 2000)
        #expect(trace.page.contains("class=\"whole open\""))
        #expect(trace.page.contains("left:0.0%;width:100.0%"))
    }

    @Test("an empty trace is valid in both formats")
    func nothing() throws {
        #expect(try chrome() == [])
        #expect(trace.page.contains("<div id=\"flow\">"))
    }

    @Test(
        "names can't break out of either format",
        arguments: ["\"", "\\", "\n\u{0}\u{1f}", "<script>", "é\u{2028}", "&amp;", "\"\u{301}", "<\u{301}", "&\u{301}"])
    func escaping(name: String) throws {
        trace.begin(name, on: "a\(name)").end(name)
        let events = try chrome()
        #expect(events.last?.name == name)
        #expect(events.last?.args.outcome == name)
        #expect(!trace.page.contains("<script>"))
        let shown = name.unicodeScalars.reduce(into: "") { shown, scalar in
            let sign = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"][scalar]
            shown.unicodeScalars += (sign ?? String(scalar)).unicodeScalars
        }
        #expect(trace.page.utf8.contains("<div class=\"name\" title=\"a\(shown)\">a\(shown)</div>".utf8))
    }

    @Test("a page names no other file and no address")
    func standsAlone() {
        trace.mark("tap", on: "a")
        for word in ["http:", "https:", "src=", "href=", "@import"] { #expect(!trace.page.contains(word)) }
    }

    @Test("Spans that last less than nothing, or for ages, are written as numbers")
    func extremes() async throws {
        trace.add("before", on: "users", lasting: .nanoseconds(-123))
        await clock.advance(by: .seconds(Int64.max / 2))
        trace.add("ages", on: "users", lasting: .seconds(Int64.max / 2))
        let spans = try chrome().filter { $0.ph == "X" }
        #expect(spans.map(\.dur) == [0, Double(Int64.max / 2) * 1e6])
    }
}
