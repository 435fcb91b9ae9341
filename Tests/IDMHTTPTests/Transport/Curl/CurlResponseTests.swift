#if os(Linux)
import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Responses that end the process over URLSession on Linux, that it takes for sound although they aren't, or that it
/// refuses although they are.
@Suite("CurlTransport responses", .fewAtOnce, .timeLimit(.ample))
struct CurlResponseTests {
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"

    @Test(
        "A trailer is dropped, whatever the status of its response",
        arguments: [
            ("200 OK\r\n\(chunked)X: y\r\n\r\n", "200 hello"),
            ("200 OK\r\nTrailer: X\r\n\(chunked)X: y\r\nZ: z\r\n\r\n", "200 hello"),
            ("404 Gone\r\n\(chunked)X: y\r\n\r\n", "status 404"), ("302 Found\r\n\(chunked)X: y\r\n\r\n", "200 "),
            ("204 No\r\n\(chunked)X: y\r\n\r\n", "204 "),
        ] as [(String, String)])
    func trailers(response: String, expected: String) async throws {
        try await expect(expected, for: response)
    }

    @Test(
        "A response that breaks off, or whose coding is wrong, is an error",
        arguments: [
            ("200 OK\r\n\(chunked)", "truncated"), ("200 OK\r\n\(chunked)X: y", "truncated"),
            ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "truncated"),
            ("200 OK\r\nContent-Length: 5\r\n", "lost"), ("200 OK\r\nContent-", "lost"), ("200 OK", "lost"),
            ("200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\nhello", "truncated"),
            ("200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 5\r\n\r\nhello", "undecodable"),
            ("200 OK\r\nContent-Encoding: odd\r\nContent-Length: 5\r\n\r\nhello", "undecodable"),
        ] as [(String, String)])
    func brokenResponses(response: String, expected: String) async throws {
        try await expect(expected, for: response)
    }

    @Test(
        "An unusual header is read, or refused with its fault",
        arguments: [
            ("407 Who\r\nProxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n", "status 407"),
            ("200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello", "too large 67108864"),
            ("200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "malformed"),
            ("200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "200 hello"),
            ("200\r\nContent-Length: 5\r\n\r\nhello", "200 hello"),
            ("200 OK\r\nX: \u{e9}\r\nContent-Length: 5\r\n\r\nhello", "200 hello"),
            ("200 OK\r\nContent-Encoding:\r\nContent-Length: 5\r\n\r\nhello", "200 hello"),
            ("200 OK\r\nContent-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", "200 hello"),
            ("200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "200 "),
        ] as [(String, String)])
    func unusualHeaders(response: String, expected: String) async throws {
        try await expect(expected, for: response)
    }

    /// Checks the outcome of a request that a server answers with bytes in Latin-1, before it closes the connection.
    private func expect(_ expected: String, for response: String) async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                guard head.hasPrefix("GET /a ") else {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                let location = response.hasPrefix("302") ? "\r\nLocation: /b" : ""
                let head = response.replacing("\r\n", with: "\(location)\r\n", maxReplacements: 1)
                // In Latin-1.
                connection.write("HTTP/1.1 \(head)".unicodeScalars.map { UInt8($0.value) })
                return
            }
        }
        try await withRawServer(serve) { _, service in
            #expect(await service.outcome() == expected)
        }
    }

    /// libcurl before 8.1 folds the line into a freed header of the last response, if a handle is used again.
    @Test("A header that begins with a folded line changes no other response")
    func foldedFirstLine() async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let fold =
                    head.hasPrefix("GET /folded ") ? " folded\r\n" : "X: \(String(repeating: "x", count: 500))\r\n"
                connection.write("HTTP/1.1 200 OK\r\n\(fold)A: b\r\n\tc: d\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        try await withRawServer(serve) { _, service in
            for number in 0..<20 {
                let path = number.isMultiple(of: 2) ? "/long" : "/folded"
                let response = try? await service.request(ServiceRequest(.get, path))
                #expect(response.map { $0.text == "hello" && $0.headers["A"] == "b c: d" } ?? (path == "/folded"))
            }
        }
    }

    @Test("A Location is followed with a scheme in capitals, and refused without a host")
    func locations() async throws {
        let odd = ["//[::1]:1/x", "//[fe80::1%25lo]/x", "//%00/x", "//a%20b/x", "", "http://"]
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let target = head.split(separator: " ")[1]
                let port = head.split(separator: "Host: 127.0.0.1:").last?.prefix { $0.isNumber } ?? ""
                let location = Int(target.dropFirst()).map { odd[$0] } ?? "HTTP://127.0.0.1:\(port)/end"
                connection.write(
                    target == "/end"
                        ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        try await withRawServer(serve) { server, service in
            for number in odd.indices {
                let outcome = await service.outcome(ServiceRequest(.get, "/\(number)"))
                #expect(!outcome.hasPrefix("200"), "\(odd[number])")
            }
            #expect(await service.outcome(ServiceRequest(.get, "/capital")) == "200 ")
            let link = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/end"))
            #expect(await service.outcome(ServiceRequest(link: link)) == "200 ")
        }
    }

    @Test("A server is reached at its IPv6 address")
    func ipv6() async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while connection.readHead() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") }
        }
        try await withRawServer(at: "::1", serve) { _, service in
            #expect(await service.outcome() == "200 hello")
        }
    }

    /// The lines that the parser of heads takes, with the status line and the blank one.
    @Test(
        "A header of many lines of one name blocks no request, and is refused above 5,000",
        arguments: [(4_997, "200 x"), (4_998, "tooManyHeaders(limit: 5000)"), (10_000, "tooManyHeaders(limit: 5000)")])
    func manyLines(count: Int, expected: String) async throws {
        let (isHalfWay, goesOn) = (TestGate(), DispatchSemaphore(value: 0))
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let isMany = head.hasPrefix("GET /a ")
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n")
                if isMany {
                    connection.write(String(repeating: "X: y\r\n", count: 4_900))
                    isHalfWay.open()
                    goesOn.wait()
                    connection.write(String(repeating: "X: y\r\n", count: count - 4_900))
                }
                connection.write("\r\nx")
            }
        }
        try await withRawServer(serve) { _, service in
            async let many = service.outcome()
            try await isHalfWay.pass()
            let others = await service.outcomes(of: ServiceRequest(.get, "/b"), count: 20)
            goesOn.signal()
            #expect(await many == expected && others == ["200 x"])
        }
    }

    /// Packed bodies, made by the tools of the system where the test kit has none.
    private static let text = String(repeating: "hello ", count: 5_000)

    @Test("A packed body is unpacked to its end, or is an error", arguments: ["gzip", "zlib", "deflate"])
    func packed(kind: String) async throws {
        let script = """
            import sys, zlib
            bits = {"gzip": 31, "zlib": 15, "deflate": -15}[sys.argv[1]]
            packer = zlib.compressobj(6, zlib.DEFLATED, bits)
            text = b"hello " * 5000
            sys.stdout.buffer.write(packer.compress(text) + packer.flush())
            """
        guard let whole = try ChildProcess.output("python3", ["-c", script, kind]) else { return }
        let coding = kind == "gzip" ? "gzip" : "deflate"
        let bodies: [(String, Data, String)] = [
            ("/whole", whole, "200 \(Self.text)"), ("/cut", whole.dropLast(10), "truncated"),
            ("/begun", whole.prefix(3), "truncated"),
            ("/spoiled", Data(repeating: 255, count: 40), "undecodable"),
            ("/two", whole + whole, kind == "gzip" ? "200 \(Self.text)\(Self.text)" : "200 \(Self.text)"),
            ("/behind", whole + Data("\r\n".utf8), "200 \(Self.text)"),
        ]
        try await withServer { server, service in
            for (path, body, expected) in bodies {
                server.on(.get, path, answer: .bytes(body).header("Content-Encoding", coding))
                server.on(
                    .get, "\(path)/chunks", answer: .bytes(body).chunked(by: 7).header("Content-Encoding", coding))
                for path in [path, "\(path)/chunks"] {
                    let outcome = await service.outcome(ServiceRequest(.get, path))
                    #expect(outcome == expected, "\(path)")
                }
            }
        }
    }

    @Test("A request with a Range header asks for no coding")
    func parts() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("hello"))
            _ = await service.outcome(ServiceRequest(.get, "/a", headers: ["Range": "bytes=0-4"]))
            _ = await service.outcome()
            let codings = server.requests.map { $0.headers["Accept-Encoding"] }
            #expect(codings[0] == "identity" && codings[1]?.hasPrefix("gzip") == true)
        }
    }

    @Test("A slow reader makes the server wait, packed or not")
    func backpressure() async throws {
        try await withServer { server, _ in
            let transport = try CurlTransport()
            let resource = LoopbackServer.Resource(length: 64 << 20)
            server.on(.get, "/plain", answer: .resource(resource))
            // About 32 MB, more than all buffers on the way hold.
            server.on(.get, "/zeros", answer: .gzipBomb(unpacking: 32 << 30))
            for path in ["/plain", "/zeros"] {
                let response = try await transport.send(
                    TransportRequest(.get, server.url(path), limits: .init(body: .max)))
                var pieces = response.body.makeAsyncIterator()
                _ = try await pieces.next()
                // The last connection is this one's.
                try await server.waitUntil { $0.connections.last?.isBlocked == true }
                var longest = 0
                for _ in 0..<100 { longest = max(longest, try await pieces.next()?.count ?? .max) }
                #expect(longest <= 256 << 10)
            }
        }
    }

    @Test("A request body is sent as it is read")
    func bodyAsItIsRead() async throws {
        try await withServer { server, service in
            let gate = TestGate()
            server.on(.post, "/a", answer: .text("done"))
            let pieces = AsyncThrowingStream<Data, any Error> {
                struct Count { static let pieces = Locked(0) }
                let number = Count.pieces.withLock { count in
                    count += 1
                    return count
                }
                if number == 2 { try await gate.pass() }
                return number < 4 ? Data(count: 1_000) : nil
            }
            async let outcome = service.outcome(
                ServiceRequest(.post, "/a", body: .stream(HTTPBytes(pieces), length: 3_000)))
            try await server.waitUntil { $0.connections.first.map { $0.bytesReceived > 1_000 } == true }
            #expect(server.journal.requestCount == 0)
            gate.open()
            #expect(await outcome == "200 done")
        }
    }

    @Test("An opened body has a limit of unpacked bytes")
    func openedLimit() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .gzipBomb(unpacking: 10 << 20))
            var service = service
            service.configuration.limits.openedBody = 1 << 20
            let stream = try await service.open(ServiceRequest(.get, "/a"))
            let error = await #expect(throws: HTTPError.self) {
                for try await _ in stream.bytes {}
            }
            #expect(error?.reason.words == "too large \(1 << 20)")
        }
    }

    @Test("A time-out after the head has its response in the error", arguments: [true, false])
    func timeOut(isDeadline: Bool) async throws {
        try await withServer { server, service in
            let clock = ManualClock()
            var service = service
            service.clock = clock
            server.on(
                .get, "/a",
                answer: .text("hello", status: 503).header("X", "y").waiting(for: TestGate(), at: .body(2)))
            let transport = HeadTeller(base: service.transport)
            service.transport = transport
            let time = Duration.seconds(1)
            let request = ServiceRequest(
                .get, "/a", idleTimeout: isDeadline ? .seconds(10) : time, totalTimeout: isDeadline ? time : nil)
            async let error = service.error(request)
            try await transport.hasHead.pass()
            try await clock.waitForSleepers(1)
            await clock.advance(by: time)
            let head = await error?.response
            #expect(head?.status == 503 && head?.headers["X"] == "y")
        }
    }

    /// A transport that opens a gate when the head of a response has come.
    private struct HeadTeller: HTTPTransport {
        let base: any HTTPTransport
        let hasHead = TestGate()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var request = request
            let didReceive = request.didReceive
            request.didReceive = { arrival in
                didReceive?(arrival)
                hasHead.open()
            }
            return try await base.send(request)
        }
    }
}
#endif
