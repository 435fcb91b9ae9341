import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Responses, of a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct ResponseLoopbackTests {
    typealias Answer = LoopbackServer.Answer
    private static let hello = Answer.text("hello")

    @Test(
        "truncated and missing responses are errors",
        arguments: [
            ("cut by length", hello.cut(at: .body(3)), "truncated"),
            ("cut before the body", hello.cut(at: .body(0)), "truncated"),
            ("fewer than announced", hello.announcing(length: 9), "truncated"),
            ("cut in a chunk", hello.chunked(by: 4).cut(at: .body(2)), "truncated"),
            ("cut between chunks", hello.chunked(by: 2).cut(at: .body(4)), "truncated"),
            ("cut before the last chunk", hello.chunked(by: 5).cut(at: .body(5)), "truncated"),
            // A reset may overtake the header.
            ("reset in the body", hello.chunked(by: 2).reset(at: .body(3)), "truncated lost"),
            ("no answer", .hangUp, "lost"), ("reset", .reset, "lost"),
            ("cut in the status line", hello.cut(at: .head(5)), "lost malformed"),
            // Not cut behind the status line: there FoundationNetworking of Swift 6.3 traps on Linux, whoever asks.
            ("not HTTP", .raw("SSH-2.0-OpenSSH\r\n"), "lost malformed"),
            ("a status of letters", .raw("HTTP/1.1 abc\r\n\r\n"), "lost malformed other"),
        ] as [(String, Answer, String)])
    func broken(name: String, answer: Answer, kinds: String) async throws {
        try await withServer { server, service in
            // Some of these a client tries again by itself, on a new connection.
            server.on(.get, "/a", answer: answer)
            let outcome = await service.outcome()
            #expect(kinds.split(separator: " ").contains(Substring(outcome)), "\(name): \(outcome)")
        }
    }

    @Test(
        "unusual but valid responses are accepted",
        arguments: [
            ("more than announced", hello.announcing(length: 4), "200 hell"),
            ("until the connection closes", hello.untilClose(), "200 hello"),
            ("in chunks of one byte", hello.chunked(by: 1), "200 hello"),
            ("dripping", hello.dripping(1), "200 hello"),
            ("dripping chunks", hello.chunked(by: 2).dripping(1), "200 hello"),
            ("without a body", .status(204), "204 "),
            ("without the body that is announced", .status(204).announcing(length: 5), "204 "),
            ("after early hints", hello.preceded(by: 103, headers: ["Link": "</a>"]), "200 hello"),
            ("after a hundred", hello.preceded(by: 100).preceded(by: 103), "200 hello"),
            ("packed", hello.gzipped(), "200 hello"),
            ("packed and in chunks", hello.gzipped().chunked(by: 3), "200 hello"),
            ("999", .text("odd", status: 999), "status 999"), ("empty", .text(""), "200 "),
            ("a failure", .text("gone", status: 410), "status 410"),
        ] as [(String, Answer, String)])
    func odd(name: String, answer: Answer, expected: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: answer)
            #expect(await service.outcome() == expected, "\(name)")
        }
    }

    @Test("a truncated response keeps its head and its bytes")
    func brokenHead() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("hello", status: 401).cut(at: .body(3)))
            let error = await #expect(throws: HTTPError.self) { try await service.request(ServiceRequest(.get, "/a")) }
            #expect(error?.response?.status == 401)
        }
    }

    @Test("HEAD and 304 responses end without a body")
    func bodyless() async throws {
        try await withServer { server, service in
            var service = service
            service.rules = [.accept([304])]
            server.on(.get, "/a", answers: [.text("hello"), .text("hello", status: 304), .text("next")])
            let head = try await service.request(ServiceRequest(.head, "/a"))
            #expect(head.body.isEmpty && head.headers[.contentLength] == "5")
            #expect(await service.outcome() == "304 ")
            #expect(await service.outcome() == "200 next")
        }
    }

    @Test(
        "an upload on a broken kept connection fails at once",
        arguments: ["POST", "PUT", "GET"])
    func brokenConnection(method: String) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: Self.hello)
            server.on(nil, "/b", answer: .hangUp)
            #expect(await service.outcome() == "200 hello")
            let method = ServiceRequest.Method(method)
            #expect(
                await service.outcome(ServiceRequest(method, "/b", body: method == .get ? nil : .text("body")))
                    == "lost")
            #expect(await service.outcome() == "200 hello")
        }
    }

    /// What is sent where only one may arrive.
    enum Body: CaseIterable {
        case none, bytes, file, stream

        func made(in folder: TemporaryFolder) throws -> RequestBody? {
            switch self {
            case .none: return nil
            case .bytes: return .text("body")
            case .file:
                let url = folder.url.appendingPathComponent("body")
                try Data("body".utf8).write(to: url)
                return .file(url)
            case .stream: return .stream(HTTPBytes(Data("body".utf8)))
            }
        }
    }

    @Test(
        "an unsafe request isn't repeated on a broken connection",
        arguments: Body.allCases, [Answer.hangUp, .reset])
    func brokenBehindOnce(body: Body, answer: Answer) async throws {
        try await withServer { server, service in
            var service = service
            service.transport = try TestTransport.current.made(connectionsPerHost: 1)
            let folder = try TemporaryFolder()
            server.on(.get, "/a", answer: Self.hello)
            server.on(nil, "/paid", answer: Self.hello)
            server.on(nil, "/pay", answer: answer)
            for method in [ServiceRequest.Method.post, .patch] {
                #expect(await service.outcome() == "200 hello")
                #expect(await service.outcome(ServiceRequest(method, "/paid")) == "200 hello")
                let request = ServiceRequest(method, "/pay", body: try body.made(in: folder))
                #expect(await service.outcome(request) == "lost")
                #expect(server.requests.count { $0.method == method && $0.path == "/pay" } == 1, "\(method)")
            }
        }
    }

    @Test("a thousand header lines are accepted, 200 KB aren't")
    func headers() async throws {
        try await withServer { server, service in
            var long = Self.hello
            for number in 0..<1_000 { long = long.header("X-\(number)", "\(number)") }
            server.on(.get, "/many", answer: long)
            server.on(.get, "/long", answer: Self.hello.header("X", String(repeating: "x", count: 200 << 10)))
            let response = try await service.request(ServiceRequest(.get, "/many"))
            #expect((0..<1_000).allSatisfy { response.headers[.init("x-\($0)")] == "\($0)" })
            var strict = service
            strict.configuration.limits.header = 8 << 10
            #expect(await strict.outcome(ServiceRequest(.get, "/many")) == "header too large")
            #expect(await strict.outcome(ServiceRequest(.get, "/long")) == "header too large")
            let outcome = await service.outcome(ServiceRequest(.get, "/long"))
            #expect(["header too large", "200 hello"].contains(outcome))
        }
    }

    @Test("a body that unpacks beyond the limit ends the transfer")
    func bombs() async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: .gzipBomb(unpacking: 1 << 26))
            server.on(.get, "/small", answer: .gzipBomb(unpacking: 100_000))
            // It stops where it is refused by then: as long as bytes come faster than they are taken, URLSession does
            // nothing else on Linux.
            let endless = Answer.resource(LoopbackServer.Resource(length: 1 << 40)).chunked()
            server.on(.get, "/endless", answer: endless.waiting(for: TestGate(), at: .body(2 << 20)))
            var service = service
            service.configuration.limits.body = 1 << 20
            #expect(await service.outcome() == "too large \(1 << 20)")
            #expect(await service.outcome(ServiceRequest(.get, "/endless")) == "too large \(1 << 20)")
            #expect(try await service.request(ServiceRequest(.get, "/small")).body == Data(count: 100_000))
            // What is refused is not fetched to its end, which is far away.
            try await server.waitUntil { $0.connections.count { $0.isClosed } >= 1 }
        }
    }

    @Test(
        "whose packing is spoiled are errors",
        arguments: [
            ("damaged", hello.gzipped(damaged: true), ["undecodable"]),
            ("not packed at all", hello.header("Content-Encoding", "gzip"), ["undecodable"]),
            (
                "cut", Answer.text(String(repeating: "hello", count: 1_000)).gzipped().cut(at: .body(1_000)),
                ["truncated", "undecodable"]
            ),
        ] as [(String, Answer, [String])])
    func badPacking(name: String, answer: Answer, kinds: [String]) async throws {
        try await withServer { server, service in
            server.on(.get, "/a", answer: answer)
            let outcome = await service.outcome()
            #expect(kinds.contains(outcome), "\(name): \(outcome)")
        }
    }

    @Test("a stalled response ends with its time-out")
    func stalls() async throws {
        try await withServer { server, service in
            var service = service
            // Its own: a deadline counts in line as well.
            service.transport = try TestTransport.current.made()
            let (clock, gate) = (ManualClock(), TestGate())
            service.clock = clock
            server.on(.get, "/nothing", answer: .never)
            server.on(.get, "/head", answer: Self.hello.waiting(for: gate, at: .body(0)))
            server.on(.get, "/half", answer: Self.hello.waiting(for: gate, at: .body(3)))
            // At once, since a new connection keeps a processor busy as long as it waits.
            try await withThrowingTaskGroup { group in
                for path in ["/nothing", "/head", "/half"] {
                    let limits = [
                        ("idle", ServiceRequest(.get, path, idleTimeout: .milliseconds(150))),
                        ("total", ServiceRequest(.get, path, totalTimeout: .milliseconds(150))),
                    ]
                    for (word, request) in limits {
                        group.addTask { [service] in
                            #expect(await service.outcome(request) == "timed out \(word)(0.15 seconds)", "\(path)")
                        }
                    }
                }
                try await server.waitUntil { $0.requestCount == 6 }
                try await gate.waitForTasks(4)
                // One timer for both limits of each request.
                try await clock.waitForSleepers(6)
                // Not so far and no further: what is heard on the way begins a silence anew.
                await clock.run()
                try await group.waitForAll()
            }
            // Nothing is left waiting for what won't come.
            try await server.waitUntil { $0.openConnectionCount == 0 }
        }
    }

    @Test("a response before the end of the upload is received")
    func early() async throws {
        try await withServer { server, service in
            let body = Data(count: 32 << 20)
            server.on(
                .put, "/a", answers: [.status(413).early(after: 1_000), .status(413).early().closing(), .text("all")])
            for _ in 0..<2 {
                #expect(await service.outcome(ServiceRequest(.put, "/a", body: .bytes(body))) == "status 413")
            }
            #expect(await service.outcome(ServiceRequest(.put, "/a", body: .bytes(body))) == "200 all")
            #expect(server.requests.map(\.isComplete) == [false, false, true])
            #expect(server.requests.last?.bodyLength == body.count)
        }
    }
}
