#if os(Linux)
import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Made-up responses, each from a seed and the number of its request. `IDM_SOAK=1` makes 100,000 of them,
/// `IDM_SEED` others.
@Suite("CurlTransport with made-up responses", .oneAtATime, .timeLimit(.ample))
struct CurlFuzzTests {
    private static let seed = ProcessInfo.processInfo.environment["IDM_SEED"].flatMap { UInt64($0) } ?? 1

    @Test("Made-up responses end no process, and answer only their own requests")
    func responses() async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                var response = MadeUpResponse(CurlStressTests.number(of: head), seed: Self.seed, to: head)
                for piece in response.pieces() where !connection.write(piece) { return }
                switch response.end {
                case .keep: continue
                case .close: return
                case .reset: return connection.resetAtClose()
                }
            }
        }
        defer { server.stop() }
        await #expect(processExitsWith: .success, "seed \(Self.seed)") { [port = server.port as Int] in
            let load = try CurlLoad(port: port)
            let wrong = await load.run(Volume.of(100_000, normally: 1_000)) { number -> String? in
                let outcome = await load.outcome(number, opens: number % 7 == 0)
                let isWrong = outcome.contains("timed out") || MadeUpResponse.isOther(outcome, than: number)
                return isWrong ? "\(number): \(outcome.prefix(200))" : nil
            }
            #expect(wrong.compactMap { $0 } == [] && CurlExchange.runningCount == 0)
        }
    }
}

/// A response that is sound, odd or broken, in pieces, and what becomes of its connection.
private struct MadeUpResponse {
    enum End { case keep, close, reset }

    private(set) var end = End.keep
    private let number: Int
    private let isRedirected: Bool
    private var random: SplitMix

    private static let statuses = [
        "200 OK", "200 OK", "200 OK", "200", "204 No", "206 Part", "304 Same", "301 Moved", "302 Found", "307 On",
        "401 Who",
        "404 Gone", "407 Proxy", "500 No", "999 Odd", "100 Go", "103 Early", "101 Switch", "-1 Odd", "20 Short",
        "2000 Long",
    ]
    private static let fields = [
        "Content-Length: 9223372036854775807", "Content-Length: -1", "Content-Length:", "Content-Length: 3",
        "Content-Length: 90", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: \u{b}", "Content-Encoding: gzip", "Content-Encoding: br", "Content-Encoding: zstd",
        "Content-Encoding: deflate", "Content-Encoding: odd", "Connection: upgrade", "Connection: close",
        "Keep-Alive: timeout=0", "Upgrade: h2c", "Trailer: X", "Location: //[::1]/x", "Location: //%00/x", "Location:",
        "Location: HTTP://127.0.0.1:1/", "Location: http://", "WWW-Authenticate: Negotiate",
        "Proxy-Authenticate: Negotiate", "Proxy-Authenticate: NTLM", "WWW-Authenticate: Digest realm=\"",
        "Set-Cookie: a[1]=b; Max-Age=99999999999999999999", "Strict-Transport-Security: max-age=1",
        "Alt-Svc: h3=\":1\"",
        "Link: <a>; rel=preload", "No colon", ": no name", "X: \u{e9}\u{0}", " folded", "Content-Range: bytes 0-1/0",
        "X: \(String(repeating: "x", count: 40_000))",
    ]
    private static let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n[unasked"

    init(_ number: Int, seed: UInt64, to head: String) {
        self.number = number
        isRedirected = head.contains("/end ")
        random = SplitMix(seed: seed &* 1_000_003 &+ UInt64(number) &* 7_919)
    }

    /// The text that a response to a request has in its body.
    private static func mark(_ number: Int) -> String {
        var random = SplitMix(seed: UInt64(number))
        return "[\(number):\(random.next())]"
    }

    /// Returns true if a result is the answer to a different request, or to none.
    static func isOther(_ outcome: String, than number: Int) -> Bool {
        if outcome.hasPrefix("200 [unasked") { return true }
        return outcome.split(separator: "[").dropFirst().contains { text in
            guard let found = Int(text.prefix { $0.isNumber }), found != number else { return false }
            return "[\(text)".hasPrefix(mark(found))
        }
    }

    mutating func pieces() -> [[UInt8]] {
        let mark = Self.mark(number)
        if isRedirected { return [Array("HTTP/1.1 200 OK\r\nContent-Length: \(mark.utf8.count)\r\n\r\n\(mark)".utf8)] }
        let status = pick(Self.statuses)
        var fields = (0..<Int.random(in: 0...3, using: &random)).map { _ in pick(Self.fields) }
        let isRedirect = chance(3)
        if isRedirect { fields.append("Location: /\(number)/end") }
        let isChunked = chance(3)
        fields.append(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(mark.utf8.count)")
        fields.shuffle(using: &random)
        var bytes: [UInt8] = []
        if chance(8) { bytes += Array("HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\n".utf8) }
        let head = "HTTP/1.\(chance(8) ? 0 : 1) \(status)\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n"
        // In Latin-1.
        bytes += head.unicodeScalars.map { UInt8($0.value) }
        let trailer = chance(2) ? "X: y\r\n" : ""
        let chunks =
            "5\r\n\(mark.prefix(5))\r\n\(String(mark.utf8.count - 5, radix: 16))\r\n\(mark.dropFirst(5))\r\n0\r\n"
        bytes += Array((isChunked ? "\(chunks)\(trailer)\r\n" : mark).utf8)
        let isSound = fields.count == 1 && status == "200 OK" && !chance(2)
        // A changed Location could name another number.
        let isMutated = !isSound && !isRedirect && chance(2)
        if isMutated { mutate(&bytes) }
        end = isSound ? .keep : chance(4) ? .reset : .close
        // In one piece with the response: bytes that arrive behind the next request can't be told from its response. A
        // mutated head may lack its end, and contain the second response.
        if !isMutated, chance(4) { return [bytes + Array(Self.unasked.utf8)] }
        let cut = isSound ? 0 : Int.random(in: 0...bytes.count, using: &random)
        return [Array(bytes[..<cut]), Array(bytes[cut...])]
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 2: bytes.removeSubrange(place..<min(place + 9, bytes.count))
            default: bytes.insert(contentsOf: bytes[place..<min(place + 30, bytes.count)], at: place)
            }
        }
    }

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    /// True once in a number of times.
    private mutating func chance(_ times: Int) -> Bool { Int.random(in: 0..<times, using: &random) == 0 }
}
#endif
