import Foundation
import IDMHTTP
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("A conversation", .timeLimit(.ample))
struct ConversationTests {
    /// Somebody who answers, and writes down what is done.
    private struct Partner {
        var answers: [LoopbackServer.Answer?]
        var conversation: Conversation
        var log: [String] = []
        var sent = ""
        var requests: [LoopbackServer.Request] = []
        /// How much may be read next. Nil, when it isn't reading.
        var readLimit: Int?

        init(_ answers: [LoopbackServer.Answer?], bodyLimit: Int = 1_000) {
            self.answers = answers
            conversation = Conversation(connection: 1, bodyLimit: bodyLimit)
        }

        /// Where the bytes of the body lie that have come. Nil, when there is none that isn't whole.
        var bodyPlace: UnsafeRawPointer? {
            var broken = conversation
            return broken.ended()?.body.withUnsafeBytes { $0.baseAddress }
        }

        /// Goes on until there has to come something.
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

        /// Hears what the other side sends, in pieces that are no longer than it reads.
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

    @Test("is the same, wherever the bytes that come are split")
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

    @Test("that is broken off tells the request that was under way, wherever it breaks")
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

    @Test("with somebody who doesn't speak HTTP ends")
    func garbage() {
        var partner = Partner([])
        partner.proceed()
        partner.hear(Array("HELO h\r\n\r\n".utf8))
        #expect(partner.log == ["complain its first line hasn't three words", "close"])
        #expect(partner.sent.hasPrefix("HTTP/1.1 400 "))
    }

    @Test("reads so much of a body at a time as it is told, and waits before each time")
    func pace() {
        var partner = Partner([.text("").reading(2, through: TestGate())])
        partner.proceed()
        partner.hear(Array("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n".utf8))
        #expect(partner.readLimit == 2)
        #expect(!partner.conversation.hasRoom)
        partner.hear(Array("hello".utf8))
        #expect(partner.log == ["route /", "wait", "wait", "wait", "record hello"])
    }

    @Test("keeps a body in one place while it grows, and doesn't copy it with every piece")
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

    @Test("has as much of a body as an early answer asks for, wherever the bytes that come are split")
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

    @Test("has all of a body in chunks as soon as an early answer's last byte has come, and reads the rest behind it")
    func earlyChunks() {
        var partner = Partner([.text("").early(after: 4), .text("").closing()])
        partner.proceed()
        let head = "PUT /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let body = "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
        partner.hear(Array((head + body + "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n").utf8))
        #expect(partner.log == ["route /1", "record hell…", "route /2", "record ", "close"])
    }

    @Test("reads a body in many chunks of one byte that come at once, without growing the stack")
    func smallChunks() {
        var partner = Partner([.text("").closing()], bodyLimit: 1 << 20)
        partner.proceed()
        let head = "PUT /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        partner.hear(Array((head + String(repeating: "1\r\na\r\n", count: 100_000) + "0\r\n\r\n").utf8))
        #expect(partner.requests.map(\.bodyLength) == [100_000])
        #expect(partner.requests.first?.isComplete == true)
    }

    @Test("doesn't read on before an answer is over, but for one piece that has come too early")
    func room() {
        var conversation = Conversation(connection: 1, bodyLimit: 0)
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
