import Foundation
import IDMHTTP
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("A conversation", .timeLimit(.ample))
struct ConversationTests {
    /// Answers requests, and logs the actions.
    private struct Partner {
        var answers: [LoopbackServer.Answer?]
        var conversation: HTTPConnection
        var log: [String] = []
        var sent = ""
        var requests: [LoopbackServer.Request] = []
        /// The number of bytes that may be read next, or nil while nothing is read.
        var readLimit: Int?

        init(_ answers: [LoopbackServer.Answer?], bodyLimit: Int = 1_000) {
            self.answers = answers
            conversation = HTTPConnection(connection: 1, bodyLimit: bodyLimit)
        }

        /// The address of the received body, or nil without an incomplete body.
        var bodyPlace: UnsafeRawPointer? {
            var broken = conversation
            return broken.ended()?.body.withUnsafeBytes { $0.baseAddress }
        }

        /// Performs actions until input is needed.
        mutating func proceed() {
            readLimit = nil
            while true {
                switch conversation.next() {
                case .read(let limit):
                    readLimit = limit
                    return
                case .write(let data): sent += String(decoding: data, as: UTF8.self)
                case .wait: log.append("wait")
                case .route(let head):
                    log.append("route \(head.target)")
                    conversation.route(to: answers.removeFirst())
                case .record(let request):
                    log.append("record \(request.text)\(request.isComplete ? "" : "…")")
                    requests.append(request)
                case .compute(let request):
                    log.append("compute")
                    conversation.computed(.text("computed \(request.text)"))
                case .complain(let reason): log.append("complain \(reason)")
                case .close:
                    log.append("close")
                    return
                case .reset:
                    log.append("reset")
                    return
                }
            }
        }

        /// Receives bytes, in pieces no longer than the reads.
        mutating func hear(_ bytes: [UInt8], split places: [Int] = []) {
            for (start, end) in zip([0] + places, places + [bytes.count]) {
                var rest = bytes[start..<end]
                while !rest.isEmpty, let limit = readLimit {
                    conversation.received(Array(rest.prefix(limit))[...])
                    rest = rest.dropFirst(limit)
                    proceed()
                }
            }
        }
    }

    private static let dialogue = Array(
        """
        GET /1 HTTP/1.1\r\nHost: h\r\n\r\n\
        POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello\
        PUT /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
        PUT /4 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nlate\
        GET /5 HTTP/1.1\r\nHost: h\r\n\r\n
        """.utf8)

    private static let answers: [LoopbackServer.Answer?] = [
        .text("one"), nil, .text("three").chunked(by: 2), .text("four").early(), .text("five").closing(),
    ]

    @Test("A connection doesn't depend on how bytes are split")
    func splitting() {
        func outcome(_ places: [Int]) -> (log: [String], sent: String) {
            var partner = Partner(Self.answers)
            partner.proceed()
            partner.hear(Self.dialogue, split: places)
            return (partner.log, partner.sent)
        }
        let whole = outcome([])
        #expect(
            whole.log == [
                "route /1", "record ", "route /2", "record hello", "compute", "route /3", "record abc", "route /4",
                "record …", "route /5", "record ", "close",
            ])
        #expect(whole.sent.components(separatedBy: "HTTP/1.1 200 OK").count == 6)
        #expect(whole.sent.contains("computed hello"))
        for place in 0...Self.dialogue.count {
            let split = outcome([place])
            #expect(split.log == whole.log && split.sent == whole.sent, "Split at \(place)")
        }
        let single = outcome(Array(1..<Self.dialogue.count))
        #expect(single.log == whole.log && single.sent == whole.sent)
    }

    @Test("A broken connection records the open request")
    func breaking() {
        for place in 0...Self.dialogue.count {
            var partner = Partner(Self.answers)
            partner.proceed()
            partner.hear(Array(Self.dialogue.prefix(place)))
            let unfinished = partner.conversation.ended()
            if let unfinished {
                #expect(!unfinished.isComplete)
                partner.requests.append(unfinished)
            }
            // Each request that somebody was asked about is told once.
            #expect(partner.requests.count == partner.log.count { $0.hasPrefix("route") }, "Broken off at \(place)")
            guard case .close = partner.conversation.next() else {
                Issue.record("It goes on after it was broken off at \(place)")
                return
            }
        }
    }

    @Test("A connection without HTTP ends")
    func garbage() {
        var partner = Partner([])
        partner.proceed()
        partner.hear(Array("HELO h\r\n\r\n".utf8))
        #expect(partner.log == ["complain its first line hasn't three words", "close"])
        #expect(partner.sent.hasPrefix("HTTP/1.1 400 "))
    }

    @Test("A connection reads a body in pieces, with a wait before each")
    func pace() {
        var partner = Partner([.text("").reading(2, through: TestGate())])
        partner.proceed()
        partner.hear(Array("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n".utf8))
        #expect(partner.readLimit == 2)
        #expect(!partner.conversation.hasRoom)
        partner.hear(Array("hello".utf8))
        #expect(partner.log == ["route /", "wait", "wait", "wait", "record hello"])
    }

    @Test("A growing body isn't copied with each piece")
    func growing() {
        var partner = Partner([nil], bodyLimit: 1 << 20)
        partner.proceed()
        partner.hear(Array("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n".utf8))
        var places: [UnsafeRawPointer?] = []
        for _ in 0..<400 {
            partner.hear(Array(repeating: UInt8(ascii: "a"), count: 1_000))
            if places.last != partner.bodyPlace { places.append(partner.bodyPlace) }
        }
        // It moves as it outgrows its room, each time by a part of its size.
        #expect(places.count < 50)
        #expect(partner.requests.map(\.body.count) == [400_000])
    }

    @Test("An early answer gets its part of the body")
    func early() {
        for (count, text) in [(0, "…"), (3, "hel…"), (4, "hell…"), (5, "hello"), (6, "hello")] {
            let head = Array("PUT /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n".utf8)
            let whole = head + Array("helloGET /2 HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            for place in 0...whole.count {
                var partner = Partner([.text("").early(after: count), .text("").closing()])
                partner.proceed()
                partner.hear(whole, split: [place])
                #expect(
                    partner.log == ["route /1", "record \(text)", "route /2", "record ", "close"],
                    "After \(count), split at \(place)")
            }
        }
    }

    @Test("An early answer reads the rest of the body later")
    func earlyChunks() {
        var partner = Partner([.text("").early(after: 4), .text("").closing()])
        partner.proceed()
        let head = "PUT /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let body = "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
        partner.hear(Array((head + body + "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n").utf8))
        #expect(partner.log == ["route /1", "record hell…", "route /2", "record ", "close"])
    }

    @Test("Many small chunks don't grow the stack")
    func smallChunks() {
        var partner = Partner([.text("").closing()], bodyLimit: 1 << 20)
        partner.proceed()
        let head = "PUT /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        partner.hear(Array((head + String(repeating: "1\r\na\r\n", count: 100_000) + "0\r\n\r\n").utf8))
        #expect(partner.requests.map(\.bodyLength) == [100_000])
        #expect(partner.requests.first?.isComplete == true)
    }

    @Test("A connection stops reading until its answer is over")
    func room() {
        var conversation = HTTPConnection(connection: 1, bodyLimit: 0)
        conversation.received(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)[...])
        _ = conversation.next()
        conversation.route(to: .never)
        guard case .record = conversation.next(), case .wait = conversation.next() else {
            Issue.record("It doesn't wait")
            return
        }
        #expect(conversation.hasRoom)
        conversation.received(Array("GET".utf8)[...])
        #expect(!conversation.hasRoom)
    }
}
