import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@Suite("The formats of a trace", .timeLimit(.ample))
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

    @Test("Chrome's format has a row per track, and more rows for spans that overlap")
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
        let rows = events.filter { $0.name == "thread_name" }.map(\.args.name)
        #expect(rows == ["users", "users 2", "screen"])
        let texts = events.filter { $0.ph == "X" || $0.ph == "i" }.map { event in
            let duration = event.dur.map { " for \($0)" } ?? ""
            return "\(event.name) in \(event.tid) at \(event.ts ?? -1)\(duration) \(event.args.outcome ?? "")"
        }
        #expect(
            texts == [
                "one in 1 at 0.0 for 1500.001 success", "three in 1 at 1500.001 for 0.0 ",
                "two in 2 at 1500.0 for 0.001 open",
                "part in 2 at 1500.0 for 0.0 ", "tap in 3 at 1500.0 ",
            ])
    }

    @Test("A page has a title, an axis and a legend of its outcomes")
    func page() async throws {
        await clock.advance(by: .milliseconds(250))
        let search = trace.begin("search", on: "users")
        trace.begin("waits", on: "", within: search).end()
        await clock.advance(by: .seconds(1))
        search.end("failure: Offline")
        trace.mark("tap", on: "screen")

        let page = trace.page
        for text in [
            "<title>users, screen: 1 s</title>", "<h1>users, screen: 1 s</h1>", "Zero is the first entry, 250 ms after",
            "<b style=\"left:0.0%\">0</b><b style=\"left:20.0%\">200 ms</b>", "<b style=\"left:100.0%\">1 s</b>",
            "<li class=\"failure\"><i></i>failure <b>1</b></li><li class=\"waits\">", "mark <b>1</b></li></ul>",
            "<i class=\"whole failure\" title=\"search, failure: Offline, at 0, took 1 s\"",
            "<i class=\"part waits\"", "<i class=\"mark mark\" title=\"tap, at 1 s\"", "prefers-color-scheme: dark",
        ] {
            #expect(page.contains(text), "no \(text)")
        }
    }

    @Test("A page shows the number of a track's row apart from its name")
    func rowNumbers() async {
        for name in ["one", "two"] {
            _ = trace.begin(name, on: "a&b")
            await clock.advance(by: .milliseconds(1))
        }

        #expect(trace.page.contains("<div class=\"name\" title=\"a&amp;b 2\"><span>a&amp;b</span> 2</div>"))
    }

    @Test("A page draws an open span to the moment of writing")
    func openSpans() async throws {
        _ = trace.begin("open", on: "a")
        await clock.advance(by: .milliseconds(2))

        #expect(trace.page.contains("class=\"whole open\"") && trace.page.contains("left:0.0%;width:100.0%"))
    }

    @Test("An empty trace is valid in both formats, and needs no network")
    func empty() throws {
        #expect(try chrome() == [])
        #expect(trace.page.contains("<h1>Empty trace</h1>") && trace.page.contains("Nothing was recorded."))
        #expect(!["http:", "https:", "src=", "href=", "@import"].contains { trace.page.contains($0) })
    }

    @Test(
        "Names are escaped in both formats",
        arguments: ["\"", "\\", "\n\u{0}\u{1f}", "<script>", "é\u{2028}", "&amp;", "\"\u{301}", "<\u{301}", "&\u{301}"])
    func escaping(name: String) throws {
        trace.begin(name, on: "a\(name)").end(name)

        let event = try chrome().last
        #expect(event?.name == name && event?.args.outcome == name)
        let shown = name.unicodeScalars.reduce(into: "") { shown, scalar in
            let sign = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"][scalar]
            shown.unicodeScalars += (sign ?? String(scalar)).unicodeScalars
        }
        #expect(trace.page.utf8.contains("title=\"a\(shown)\"><span>a\(shown)</span></div>".utf8))
    }

    @Test("Negative and very long spans are written as numbers")
    func extremes() async throws {
        trace.add("before", on: "users", lasting: .nanoseconds(-123))
        await clock.advance(by: .seconds(Int64.max / 2))
        trace.add("ages", on: "users", lasting: .seconds(Int64.max / 2))

        let spans = try chrome().filter { $0.ph == "X" }
        #expect(spans.map(\.dur) == [0, Double(Int64.max / 2) * 1e6])
        #expect(trace.page.contains("<h1>users: \(Int64.max / 2 + 1) s</h1>"))
    }
}
