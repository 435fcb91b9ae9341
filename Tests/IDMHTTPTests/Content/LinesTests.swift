import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// A body that comes in pieces of some length.
private func bytes(_ data: Data, by length: Int) -> HTTPBytes {
    HTTPBytes(
        AsyncStream { stream in
            for start in stride(from: 0, to: data.count, by: length) {
                stream.yield(data[start..<min(start + length, data.count)])
            }
            stream.finish()
        })
}

extension AsyncSequence {
    /// Everything, once it has come.
    fileprivate func collected() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}

@Suite("Lines of a body", .timeLimit(.ample))
struct LinesTests {
    @Test(
        "end with LF, CR or both, in whatever pieces they come",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
            ("a\rb\r", ["a", "b"]),
            ("\n\n", ["", ""]), ("\r\n\r\n", ["", ""]), ("\n\r", ["", ""]), ("a\r\r\nb", ["a", "", "b"]),
            ("é\n👩‍🚀\n", ["é", "👩‍🚀"]), ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("\u{FEFF}", [""]),
            ("a\0b\u{2028}c\n", ["a\0b\u{2028}c"]),
        ] as [(String, [String])])
    func ends(text: String, lines: [String]) async throws {
        for length in 1...max(text.utf8.count, 1) {
            let found = try await bytes(Data(text.utf8), by: length).lines().collected()
            // Compared scalar by scalar, or two texts that look alike would be the same.
            #expect(found.map { Array($0.unicodeScalars) } == lines.map { Array($0.unicodeScalars) }, "by \(length)")
        }
    }

    @Test("a line beyond the limit is an error after the earlier lines", arguments: [1, 3, 100])
    func limit(length: Int) async throws {
        var lines = bytes(Data("abc\nabcd\nx\n".utf8), by: length).lines(limit: 3).makeAsyncIterator()

        #expect(try await lines.next() == "abc")
        await #expect(throws: HTTPBytes.LineFault.tooLong(limit: 3)) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test("invalid UTF-8 in a line is replaced")
    func replaced() async throws {
        #expect(
            try await bytes(Data([0x61, 0xFF, 0x0A, 0xC3]), by: 1).lines().collected() == ["a\u{FFFD}", "\u{FFFD}"])
    }

    @Test("an error follows the lines that arrived")
    func failure() async throws {
        struct Cut: Error {}
        let body = HeldBody()
        body.send("a\nb")
        body.fail(Cut())
        var lines = body.bytes.lines().makeAsyncIterator()

        #expect(try await lines.next() == "a")
        await #expect(throws: Cut.self) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test("random text gives equal lines however it is cut")
    func random() async throws {
        var random = SplitMix(seed: 3)
        for _ in 0..<300 {
            let text = Data((0..<40).map { _ in [10, 13, 97, 0xC3, 0xA9].randomElement(using: &random)! })
            let whole = try await bytes(text, by: 40).lines().collected()
            let cut = try await bytes(text, by: Int.random(in: 1...7, using: &random)).lines().collected()
            #expect(whole == cut)
        }
    }
}

@Suite("Server-sent events", .timeLimit(.ample))
struct ServerSentEventTests {
    @Test(
        "events follow the standard",
        arguments: [
            ("data: a\n\n", [.init(data: "a")]), ("data:a\n\n", [.init(data: "a")]),
            ("data:  a\n\n", [.init(data: " a")]),
            ("data:\u{301}a\n\ndata: \u{301}b\n\n", [.init(data: "\u{301}a"), .init(data: "\u{301}b")]),
            ("data: a\ndata\ndata: b\n\n", [.init(data: "a\n\nb")]), ("data\n\n", [.init(data: "")]),
            ("event: add\ndata: 1\n\ndata: 2\n\n", [.init(event: "add", data: "1"), .init(data: "2")]),
            ("event: lost\n\ndata: 1\n\n", [.init(data: "1")]), (": comment\n\ndata: 1\n\n", [.init(data: "1")]),
            (
                "id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n",
                [
                    .init(data: "1", id: "7"), .init(data: "2", id: "7"), .init(data: "3"),
                ]
            ),
            ("id: a\0b\ndata: 1\n\n", [.init(data: "1")]),
            ("retry: 1500\ndata: 1\n\n", [.init(data: "1", retry: .milliseconds(1500))]),
            ("retry: soon\ndata: 1\n\n", [.init(data: "1")]), ("retry: -5\ndata: 1\n\n", [.init(data: "1")]),
            ("retry: 99999999999999999999\ndata: 1\n\n", [.init(data: "1")]),
            ("other: x\ndata: 1\n\n", [.init(data: "1")]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", [.init(data: "a"), .init(data: "b"), .init(data: "c")]),
            ("data: not complete\n", []), ("data: a\n\ndata: not complete", [.init(data: "a")]), ("", []),
            ("\n\n\n", []),
            ("\u{FEFF}data: a\n\n", [.init(data: "a")]), ("data: a: b\n\n", [.init(data: "a: b")]), ("DATA: a\n\n", []),
        ] as [(String, [ServerSentEvent])])
    func standard(text: String, events: [ServerSentEvent]) async throws {
        for length in [1, 2, 5, 1000] {
            #expect(try await bytes(Data(text.utf8), by: length).events().collected() == events, "by \(length)")
        }
    }

    @Test("the lines of an event share the limit")
    func limit() async throws {
        let fits = bytes(Data("data: abcd\ndata: efgh\n\n".utf8), by: 3).events(limit: 10)
        #expect(try await fits.collected() == [.init(data: "abcd\nefgh")])
        await #expect(throws: HTTPBytes.LineFault.tooLong(limit: 10)) {
            try await bytes(Data("data: abcd\ndata: efgh\ndata: i\n\n".utf8), by: 3).events(limit: 10).collected()
        }
    }

    @Test("before a line that is too long come all the same", arguments: [1, 5, 100])
    func beforeFault(length: Int) async throws {
        let body = bytes(Data("data: a\n\ndata: 0123456789\n\n".utf8), by: length)
        var events = body.events(limit: 10).makeAsyncIterator()

        #expect(try await events.next() == .init(data: "a"))
        await #expect(throws: HTTPBytes.LineFault.tooLong(limit: 10)) { try await events.next() }
        #expect(try await events.next() == nil)
    }

    @Test("may have any number of lines")
    func manyLines() async throws {
        let text = String(repeating: "data:x\n", count: 200_000) + "\n"
        let events = try await bytes(Data(text.utf8), by: 1 << 16).events().collected()
        #expect(events.map(\.data.utf8.count) == [399_999])
    }

    @Test("events arrive one by one as they are sent")
    func live() async throws {
        let body = HeldBody()
        var events = body.bytes.events().makeAsyncIterator()
        body.send("data: 1\n\n")
        #expect(try await events.next()?.data == "1")
        body.send("data: 2\n")
        body.send("\n")
        #expect(try await events.next()?.data == "2")
        body.finish()
        #expect(try await events.next() == nil)
    }
}
