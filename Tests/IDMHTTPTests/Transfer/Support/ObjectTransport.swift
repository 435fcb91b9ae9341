import Foundation
import IDMHTTPTesting
import IDMTesting
import Synchronization
import TestSupport

@testable import IDMHTTP

/// A server of one object, right at the seam: it knows ranges as well as a server can, or as badly as the test says.
final class ObjectTransport: HTTPTransport {
    struct Script: Sendable {
        var bytes: Data
        var tag: String? = "\"v1\""
        var headers: ServiceHeaders = [:]
        var status: Int?
        var knowsRanges = true
        var tellsLength = true
        /// The most bytes of one answer to a request for a range.
        var most = Int.max
        /// What stands in the Content-Range in place of the right one.
        var range: String?
        /// After how many bytes of an answer the connection breaks.
        var breaksAfter: Int?
        /// After how many bytes of an answer nothing comes any more, until the signal is opened.
        var holds: (after: Int, Signal)?
        /// After how many bytes the body is over, whatever was announced.
        var endsAfter: Int?
        var extra = Data()
    }

    struct Broken: Error {}

    private let script: Mutex<Script>
    private let requests = Mutex<[TransportRequest]>([])
    private let sent = Atomic(0)
    /// Tells of each piece that is asked for.
    let log = Log()

    init(_ bytes: Data, _ change: (inout Script) -> Void = { _ in }) {
        var script = Script(bytes: bytes)
        change(&script)
        self.script = Mutex(script)
    }

    var asked: [TransportRequest] { requests.withLock { $0 } }
    var ranges: [String?] { asked.map { $0.headers["Range"] } }
    /// The object.
    var bytes: Data { script.withLock { $0.bytes } }
    /// How many bytes have been handed over.
    var sentBytes: Int { sent.load(ordering: .relaxed) }

    func change(_ change: (inout Script) -> Void) { script.withLock { change(&$0) } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        requests.withLock { $0.append(request) }
        let script = script.withLock { $0 }
        var headers = script.headers
        headers["ETag"] = script.tag
        if let status = script.status { return .text("no", status: status, headers: headers) }
        var (first, end, status) = (0, script.bytes.count, 200)
        if script.knowsRanges, let range = request.headers["Range"], let start = Int(range.dropFirst(6).dropLast()),
            request.headers["If-Range"].map({ $0 == script.tag }) ?? true
        {
            guard start < script.bytes.count else {
                headers["Content-Range"] = "bytes */\(script.bytes.count)"
                return .text("", status: 416, headers: headers)
            }
            (first, end, status) = (start, min(script.bytes.count, start &+ min(script.most, 1 << 40)), 206)
            headers["Content-Range"] = script.range ?? "bytes \(first)-\(end - 1)/\(script.bytes.count)"
        }
        let body = script.bytes[first..<end] + script.extra
        if script.tellsLength { headers["Content-Length"] = "\(end - first)" }
        return TransportResponse(status: status, headers: headers, body: HTTPBytes(Pieces(server: self, script, body)))
    }

    private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
        let server: ObjectTransport
        let script: Script
        let body: Data
        var gone = 0

        init(server: ObjectTransport, _ script: Script, _ body: Data) {
            (self.server, self.script, self.body) = (server, script, Data(body))
        }

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async throws -> Data? {
            server.log.add("\(gone)")
            if let (after, signal) = script.holds, gone >= after { try await signal.wait() }
            if let limit = script.breaksAfter, gone >= limit { throw Broken() }
            if let limit = script.endsAfter, gone >= limit { return nil }
            guard gone < body.count else { return nil }
            var end = Swift.min(body.count, gone + 1_000)
            for stop in [script.breaksAfter, script.holds?.after, script.endsAfter] {
                if let stop, stop > gone { end = Swift.min(end, stop) }
            }
            defer { gone = end }
            server.sent.add(end - gone, ordering: .relaxed)
            return body[gone..<end]
        }
    }
}

/// Bytes of which each place can be told from others.
func filling(_ count: Int, seed: UInt64 = 1) -> Data {
    LoopbackServer.Resource(length: count, seed: seed).bytes(0..<count)
}
