import Foundation
import IDMHTTP
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("The reader of requests", .timeLimit(.ample))
struct RequestParserTests {
    static let sound = [
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "\r\n\r\nGET /a?b=c HTTP/1.1\r\nhost:h\r\nX: \t y z \t\r\nX:\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
        "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\nZ: \r\n\r\n",
        "GET /a HTTP/1.0\r\n\r\n",
        "M-SEARCH * HTTP/1.1\r\nHost: h\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n",
    ]

    @Test("A parser reads a head and a body")
    func reads() throws {
        let events = try Self.events(of: Self.sound[2]).get()
        let head = try Self.head(of: Array(Self.sound[2].utf8))
        #expect(head.method == .post)
        #expect(head.target == "/a")
        #expect(head.headers == ["Host": "h", "Content-Length": "5"])
        #expect(head.bytes == Array("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n".utf8))
        #expect(head.framing == .length(5))
        #expect(!head.closes)
        #expect(events.dropFirst() == [.body(Array("hello".utf8)[...]), .end])
    }

    @Test("A parser keeps the spelling of names, and trims values")
    func fields() throws {
        let head = try Self.head(of: Array(Self.sound[1].utf8))
        #expect(head.headers.map(\.name.spelling) == ["host", "X", "X"])
        #expect(head.headers.map(\.value) == ["h", "y z", ""])
        #expect(!head.bytes.starts(with: [0x0D]))
    }

    @Test("A parser reads a head of many thousand lines")
    func lines() throws {
        let count = 80_000
        let text = "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: count) + "\r\n"
        #expect(try Self.head(of: Array(text.utf8)).headers.values(of: "X").count == count)
    }

    @Test("A parser reads bytes that aren't UTF-8 as Latin-1")
    func latin() throws {
        var bytes = Array("GET / HTTP/1.1\r\nHost: h\r\nX: ".utf8)
        bytes += [0xE9] + Array("\r\nY: é\r\n\r\n".utf8)
        let head = try Self.head(of: bytes)
        #expect(head.headers["X"] == "é")
        #expect(head.headers["Y"] == "é")
        #expect(head.bytes == bytes)
    }

    @Test("A parser doesn't depend on how bytes are split", .offThePool, arguments: sound)
    func splitting(request: String) throws {
        let bytes = Array((request + "GET /next HTTP/1.1\r\nHost: h\r\n\r\n").utf8)
        let whole = try Self.events(of: bytes).get()
        #expect(whole.count(where: { $0 == .end }) == 2)
        for place in 0...bytes.count {
            #expect(Self.events(of: bytes, splitAt: [place]) == .success(whole), "Split at \(place)")
        }
        for first in stride(from: 0, to: min(bytes.count, 60), by: Volume.of(1, normally: 7)) {
            for second in first..<bytes.count where Self.events(of: bytes, splitAt: [first, second]) != .success(whole)
            {
                Issue.record("It is read in another way when it is split at \(first) and \(second)")
            }
        }
        #expect(Self.events(of: bytes, splitAt: Array(1..<bytes.count)) == .success(whole))
    }

    @Test(
        "A parser refuses ambiguous requests",
        arguments: [
            ("GET / HTTP/1.1\nHost: h\n\n", "a line ends without a carriage return"),
            ("GET /\r/ HTTP/1.1\r\nHost: h\r\n\r\n", "a line holds a carriage return or a zero byte"),
            ("GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n", "a line holds a carriage return or a zero byte"),
            ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "its first line hasn't three words"),
            ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "its first line hasn't three words"),
            ("GET\r\n\r\n", "its first line hasn't three words"),
            ("G(T / HTTP/1.1\r\nHost: h\r\n\r\n", "its method isn't one"),
            ("GET /é HTTP/1.1\r\nHost: h\r\n\r\n", "its target holds what must be escaped"),
            ("GET / HTTP/2\r\nHost: h\r\n\r\n", "its version isn't 1.1"),
            ("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", "a line of its header has no name"),
            ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", "a line of its header has no name"),
            ("GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", "a line of its header has no name"),
            ("GET / HTTP/1.1\r\n\r\n", "it has 0 hosts"),
            ("GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n", "it has 2 hosts"),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", "its length isn't one number"),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", "its length isn't one number"),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", "its length isn't one number"),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", "its length isn't one number"),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
                "its length isn't one number"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                "its length isn't one number"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "it has both a length and a transfer coding"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                "its transfer coding isn't “chunked”"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
                "the size of a chunk isn't a number"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFFFF\r\n",
                "the size of a chunk isn't a number"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
                "the size of a chunk isn't a number"
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
                "a chunk is longer than its size"
            ),
        ])
    func faults(request: String, reason: String) throws {
        let fault = RequestParser.Fault(reason: reason)
        #expect(Self.events(of: request) == .failure(fault))
        // And goes on refusing.
        var parser = RequestParser()
        var input = Array(request.utf8)[...]
        #expect(throws: fault) { while try parser.next(&input) != nil {} }
        input = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)[...]
        #expect(throws: fault) { try parser.next(&input) }
    }

    @Test("A parser refuses endless heads and trailers")
    func endless() {
        let long = String(repeating: "a", count: (1 << 20) + 1)
        let fault = RequestParser.Fault(reason: "its head has no end")
        #expect(Self.events(of: long) == .failure(fault))
        #expect(Self.events(of: "GET / HTTP/1.1\r\nHost: h\r\nX: " + long) == .failure(fault))
        let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        let trailer = String(repeating: "X: \(long.prefix(60_000))\r\n", count: 20)
        #expect(Self.events(of: chunked + trailer) == .failure(RequestParser.Fault(reason: "its trailer has no end")))
    }

    @Test("A parser reads spoiled requests the same in any pieces")
    func spoiled() throws {
        var random = SplitMix(seed: 1)
        var refused = 0
        let rounds = Volume.of(4_000, normally: 1_000)
        for round in 0..<rounds {
            var bytes = Array((Self.sound.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: bytes.insert(contentsOf: "\r\n:;0 ".utf8.shuffled(using: &random).prefix(2), at: place)
                }
            }
            let whole = Self.events(of: bytes)
            if case .failure = whole { refused += 1 }
            let split = Self.events(of: bytes, splitAt: Array(1..<bytes.count))
            #expect(whole == split, "Round \(round)")
        }
        #expect(refused > rounds / 10 && refused < rounds / 40 * 39)
    }

    /// The head that bytes begin with.
    private static func head(of bytes: [UInt8]) throws -> RequestHead {
        let first = try events(of: bytes).get().first
        guard case .head(let head)? = first else { throw NoHead(first: first) }
        return head
    }

    private struct NoHead: Error {
        let first: RequestParser.Event?
    }

    private static func events(of text: String) -> Result<[RequestParser.Event], RequestParser.Fault> {
        events(of: Array(text.utf8))
    }

    /// The results of parsing bytes in pieces. Consecutive pieces of a body are joined.
    private static func events(
        of bytes: [UInt8], splitAt places: [Int] = []
    ) -> Result<[RequestParser.Event], RequestParser.Fault> {
        var parser = RequestParser()
        var events: [RequestParser.Event] = []
        do throws(RequestParser.Fault) {
            for (start, end) in zip([0] + places, places + [bytes.count]) {
                var input = Array(bytes[start..<end])[...]
                while let event = try parser.next(&input) {
                    if case .body(let more) = event, case .body(let piece)? = events.last {
                        events[events.count - 1] = .body(Array(piece + more)[...])
                    } else {
                        events.append(event)
                    }
                }
                #expect(input.isEmpty, "What isn't a whole event yet is kept by the parser")
            }
            return .success(events)
        } catch {
            return .failure(error)
        }
    }
}
