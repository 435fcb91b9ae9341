import Foundation
import IDMHTTP
import TestSupport
import Testing

@testable import IDMHTTPTesting
import IDMTesting

@Suite("The writer of answers", .timeLimit(.ample))
struct AnswerWriterTests {
    typealias Answer = LoopbackServer.Answer

    /// Returns the pieces of an answer on the wire, with `|` for a wait, and its end.
    private func wire(
        _ answer: Answer, _ method: ServiceRequest.Method = .get, headers: ServiceHeaders = [:], closes: Bool = false
    ) -> (pieces: [String], end: AnswerWriter.End) {
        let head = RequestHead(
            method: method, target: "/", headers: headers, bytes: [], framing: .length(0), closes: closes,
            awaitsContinue: false)
        var writer = AnswerWriter(answer, to: head)
        var pieces: [String] = []
        while true {
            switch writer.next() {
            case .send(let data): pieces.append(String(decoding: data, as: UTF8.self))
            case .pause: pieces.append("|")
            case .end(let end):
                guard case .end(end) = writer.next() else {
                    Issue.record("It goes on after the end")
                    return (pieces, end)
                }
                return (pieces, end)
            }
        }
    }

    private func text(
        _ answer: Answer, _ method: ServiceRequest.Method = .get, headers: ServiceHeaders = [:], closes: Bool = false
    ) -> String {
        let (pieces, end) = wire(answer, method, headers: headers, closes: closes)
        return pieces.joined().replacing("\r\n", with: "\n") + (end == .keep ? "" : " <\(end)>")
    }

    @Test("An answer has its header in order, and the body's length")
    func plain() {
        let answer = Answer.text("hé").header("X", "1").headers(["Y": "2", "X": "3"])
        #expect(
            text(answer) == """
                HTTP/1.1 200 OK
                Content-Type: text/plain; charset=utf-8
                X: 1
                Y: 2
                X: 3
                Content-Length: 3

                hé
                """)
    }

    @Test("An answer has no body where none is allowed")
    func withoutBody() {
        #expect(text(.text("abc"), .head).hasSuffix("Content-Length: 3\n\n"))
        #expect(text(.text("abc").chunked(), .head).hasSuffix("Transfer-Encoding: chunked\n\n"))
        #expect(text(.status(204)) == "HTTP/1.1 204 No Content\n\n")
        #expect(text(.status(304)) == "HTTP/1.1 304 Not Modified\n\n")
        #expect(text(.text("abc", status: 304)).hasSuffix("Content-Length: 3\n\n"))
        #expect(text(.status(101)) == "HTTP/1.1 101 Whatever\n\n")
        #expect(text(.status(999)) == "HTTP/1.1 999 Whatever\nContent-Length: 0\n\n")
    }

    @Test("An answer is written in chunks")
    func chunks() {
        let body = "\n\n2\nhe\n2\nll\n1\no\n0\n\n"
        #expect(text(.text("hello").chunked(by: 2)).hasSuffix("Transfer-Encoding: chunked" + body))
        #expect(text(.text("").chunked()).hasSuffix("\n\n0\n\n"))
        #expect(text(.text("hello").chunked(by: 2).dripping(1)).hasSuffix(body))
        let long = String(repeating: "x", count: 100_000)
        let pieces = wire(.text(long).chunked(by: 100_000)).pieces
        #expect(pieces.dropFirst().joined() == "186a0\r\n\(long)\r\n0\r\n\r\n")
        #expect(pieces.allSatisfy { $0.utf8.count <= AnswerWriter.blockLength + 9 })
    }

    @Test("An answer that closes has a Connection header")
    func closing() {
        #expect(text(.status(200).closing()) == "HTTP/1.1 200 OK\nContent-Length: 0\nConnection: close\n\n <close>")
        #expect(text(.status(200), closes: true).hasSuffix("Connection: close\n\n <close>"))
        #expect(text(.text("a").untilClose()).hasSuffix("charset=utf-8\nConnection: close\n\na <close>"))
        #expect(text(.text("a").announcing(length: 9)).hasSuffix("Content-Length: 9\nConnection: close\n\na <close>"))
        #expect(
            text(.text("abc").announcing(length: 1)).hasSuffix("Content-Length: 1\nConnection: close\n\nabc <close>"))
        #expect(text(.raw("HTP\r\n")) == "HTP\n <close>")
        #expect(
            text(.status(200).header("content-length", "x").header("Connection", "y").closing())
                == "HTTP/1.1 200 OK\ncontent-length: x\nConnection: y\n\n <close>")
    }

    @Test("An answer breaks off at its point")
    func cuts() {
        let answer = Answer.raw("0123456789")
        #expect(text(answer.cut(at: .body(3))) == "012 <close>")
        #expect(text(answer.reset(at: .body(10))) == "0123456789 <reset>")
        #expect(text(answer.reset(at: .end)) == "0123456789 <reset>")
        #expect(text(answer.reset(at: .body(99))) == "0123456789 <reset>")
        #expect(text(.text("hello").cut(at: .head(4))) == "HTTP <close>")
        #expect(text(.text("hello").cut(at: .head(9_999))).hasSuffix("\n\n <close>"))
        #expect(text(.text("hello").reset(at: .body(0))).hasSuffix("\n\n <reset>"))
        #expect(text(.hangUp) == " <close>")
        #expect(text(.reset) == " <reset>")
        let chunked = Answer.text("hello").chunked(by: 3)
        #expect(text(chunked.cut(at: .body(2))).hasSuffix("\n\n3\nhe <close>"))
        #expect(text(chunked.cut(at: .body(3))).hasSuffix("\n\n3\nhel\n <close>"))
        #expect(text(chunked.cut(at: .body(5))).hasSuffix("\n\n3\nhel\n2\nlo\n <close>"))
        #expect(text(chunked.cut(at: .end)).hasSuffix("\n\n3\nhel\n2\nlo\n0\n\n <close>"))
        #expect(text(.text("hello").cut(at: .body(2)), .head).hasSuffix("Content-Length: 5\n\n <close>"))
    }

    @Test("An answer waits at its points in order")
    func waits() {
        let gate = TestGate()
        let answer = Answer.raw("0123")
        #expect(wire(answer.waiting(for: gate)).pieces == ["|", "0123"])
        #expect(
            wire(answer.waiting(for: gate, at: .body(1)).waiting(for: gate, at: .body(1))).pieces == [
                "0", "|", "|", "123",
            ])
        #expect(
            wire(answer.waiting(for: gate, at: .end).waiting(for: gate, at: .body(4))).pieces == ["0123", "|", "|"])
        #expect(
            wire(answer.waiting(.seconds(1), on: ManualClock(), at: .body(2)).cut(at: .body(2))).pieces == ["01", "|"])
        #expect(wire(answer.cut(at: .body(2)).waiting(for: gate, at: .body(2))).pieces == ["01"])
        #expect(wire(.never).pieces.first == "|")
        let headed = wire(.status(200).waiting(for: gate, at: .head(8)).waiting(for: gate, at: .body(0))).pieces
        #expect(headed == ["HTTP/1.1", "|", " 200 OK\r\nContent-Length: 0\r\n\r\n", "|"])
    }

    @Test("An answer drips in pieces")
    func drips() {
        let answer = Answer.raw("01234")
        #expect(wire(answer.dripping(2)).pieces == ["01", "23", "4"])
        #expect(wire(answer.dripping(2, through: TestGate())).pieces == ["|", "01", "|", "23", "|", "4"])
        #expect(wire(answer.dripping(9, every: .seconds(1), on: ManualClock())).pieces == ["|", "01234"])
        #expect(wire(answer.dripping(2).cut(at: .body(3))).pieces == ["01", "2"])
        // A piece that is stopped on its way waits once.
        let stopped = answer.dripping(2, through: TestGate()).waiting(for: TestGate(), at: .body(1))
        #expect(wire(stopped).pieces == ["|", "0", "|", "1", "|", "23", "|", "4"])
    }

    @Test("An answer may follow heads of 1xx")
    func interim() {
        let answer = Answer.status(204).preceded(by: 103, headers: ["Link": "</a>"]).preceded(by: 100)
        #expect(
            text(answer)
                == "HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 100 Continue\n\nHTTP/1.1 204 No Content\n\n")
    }

    @Test("An answer may have a header of any bytes and length")
    func heads() {
        let head = RequestHead(
            method: .get, target: "/", headers: [:], bytes: [], framing: .length(0), closes: false,
            awaitsContinue: false)
        var answer = Answer.status(200).header("X", bytes: Data([0xFF, 0xFE]))
        answer = answer.header("Long", String(repeating: "l", count: 200_000))
        for number in 0..<1_000 { answer = answer.header("N\(number)", "\(number)") }
        var writer = AnswerWriter(answer, to: head)
        var bytes = Data()
        while case .send(let data) = writer.next() {
            #expect(data.count <= AnswerWriter.blockLength)
            bytes += data
        }
        #expect(bytes.contains(0xFF))
        #expect(bytes.count > 210_000)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\r\nN999: 999\r\n"))
    }
}
