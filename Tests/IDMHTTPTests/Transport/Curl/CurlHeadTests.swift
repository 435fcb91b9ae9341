#if os(Linux)
import Testing

@testable import IDMHTTP

@Suite("The head of a response over libcurl")
struct CurlHeadTests {
    /// Reads lines, and describes the head or the fault.
    private func outcome(_ lines: [String], limit: Int = 200) -> String {
        outcome(lines.map { Array("\($0)\r\n".utf8) }, limit: limit)
    }

    private func outcome(_ lines: [[UInt8]], limit: Int = 200) -> String {
        var parser = CurlHeadParser(limit: limit)
        var outcome = "nothing"
        for line in lines {
            do {
                if let head = try line.withUnsafeBytes({ try parser.read($0) }) {
                    let fields = head.headers.map { "\($0.name)=\($0.value)" }
                    outcome = (["\(head.status)"] + fields).joined(separator: " ")
                }
            } catch {
                return (error as? TransportFault).map { "\($0.kind)" } ?? "\(error)"
            }
        }
        return outcome
    }

    @Test(
        "is read from its lines, or is a fault with a name",
        arguments: [
            (["HTTP/1.1 200 OK", "A: b", ""], "200 A=b"), (["HTTP/1.1 200", ""], "200"), (["HTTP/2 404 ", ""], "404"),
            (["HTTP/1.1 200 OK", "A:  b c \t", "a:", "no field", ""], "200 A=b c a="),
            (["HTTP/1.1 103 Early", "L: x", "", "HTTP/1.1 200 OK", "A: b", ""], "200 A=b"),
            (["HTTP/1.1 101 Switching", ""], "101"), (["HTTP/1.1 999 Odd", ""], "999"),
            (["HTTP/1.1 200 OK", "", "Trailer: x", ""], "200"), (["HTTP/1.1 200 OK", "A: b"], "nothing"),
            (
                ["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5", ""],
                "200 Content-Length=5 Content-Length=5"
            ),
            (["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6", ""], "malformed"),
            (["HTTP/1.1 abc", ""], "malformed"), (["HTTP/1.1 -20", ""], "malformed"), (["SSH-2.0", ""], "malformed"),
            (["HTTP/1.1 200 OK", "A: \(String(repeating: "b", count: 200))"], "headerTooLarge(limit: 200)"),
        ] as [([String], String)])
    func lines(lines: [String], expected: String) {
        #expect(outcome(lines) == expected)
    }

    @Test("has values in Latin-1 as well as in UTF-8")
    func encodings() {
        let head = ["HTTP/1.1 200 OK", "A: é"].map { Array("\($0)\r\n".utf8) }

        #expect(outcome(head + [[0x42, 0x3A, 0xE9], []]) == "200 A=é B=é")
    }

    @Test("has no more lines than are taken, informational ones included")
    func lineLimit() {
        let lines = Array(repeating: "HTTP/1.1 100 Continue", count: 3_000).flatMap { [$0, ""] }

        #expect(outcome(lines, limit: .max) == "tooManyHeaders(limit: 5000)")
    }
}
#endif
