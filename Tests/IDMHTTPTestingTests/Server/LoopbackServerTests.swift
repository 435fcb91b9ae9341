import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@Suite("A loopback server", .fewAtOnce, .timeLimit(.ample))
struct LoopbackServerTests {
    @Test("A server answers by its routes, and records requests byte for byte")
    func answers() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, "/users/{id}", answer: .json(#"{"name": "Ada"}"#))
                let client = try RawClient(server)
                client.send("GET /users/4%32?a=b HTTP/1.1\r\nhost: here\r\nX-A: 1\r\nx-a:\t2 \r\n\r\n")
                let heard = try await client.hears { $0.text.contains("Ada") }
                #expect(
                    heard.text == """
                        HTTP/1.1 200 OK\r
                        Content-Type: application/json\r
                        Content-Length: 15\r
                        \r
                        {"name": "Ada"}
                        """)
                let request = try await server.waitForRequest()
                #expect(request.method == .get)
                #expect(request.target == "/users/4%32?a=b")
                #expect(request.path == "/users/4%32")
                #expect(request.query == "a=b")
                #expect(request.parameters == ["id": "42"])
                #expect(request.headers.map(\.name.spelling) == ["host", "X-A", "x-a"])
                #expect(request.headers.values(of: "X-A") == ["1", "2"])
                #expect(request.head.starts(with: Data("GET /users/4%32?a=b HTTP/1.1\r\nhost".utf8)))
                #expect(request.isComplete)
                #expect(request.connection == 1)
                client.hangUp()
            }
        }
    }

    @Test(
        "A whole address is answered as its path is",
        arguments: [
            ("http://h/users/4%32?a=b", "/users/4%32", "a=b"), ("HTTPS://h:1/users/4%32", "/users/4%32", nil),
            ("http://h", "/", nil), ("http://h?a=/b", "/", "a=/b"), ("/users/http://h/", "/users/http://h/", nil),
        ])
    func addresses(target: String, path: String, query: String?) async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, path, answer: .text("hello"))
                let client = try RawClient(server)
                client.send("GET \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                #expect(try await client.hearsEverything().body == "hello")
                let request = try await server.waitForRequest()
                #expect(request.path == path && request.query == query && request.target == target)
                client.hangUp()
            }
        }
    }

    @Test("A connection carries several requests, also pipelined ones")
    func keepAlive() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, "/a", answers: [.text("one"), .text("two"), .text("three").closing()])
                let client = try RawClient(server)
                let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
                client.send(request)
                _ = try await client.hears { $0.text.hasSuffix("one") }
                client.send(request + request)
                let heard = try await client.hearsEverything()
                #expect(heard.text.hasSuffix("three"))
                #expect(server.requests.map(\.connection) == [1, 1, 1])
                client.hangUp()
                try await server.waitUntil { $0.openConnectionCount == 0 }
            }
        }
    }

    @Test("A cancelled wait leaves the request to the next wait")
    func nothingLost() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, "/a", answer: .text("a").closing())
                let waiter = Task { try await server.waitForRequest() }
                waiter.cancel()
                await #expect(throws: CancellationError.self) { try await waiter.value }
                let client = try RawClient(server)
                client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
                let request = try await server.waitForRequest()
                #expect(request.target == "/a")
                client.hangUp()
            }
        }
    }

    @Test("The condition of a wait may read the server")
    func untilAsks() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, "/a", answer: .text("hello"))
                let client = try RawClient(server)
                client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
                try await server.waitUntil { _ in server.requests.map(\.path) == ["/a"] }
                client.hangUp()
                try await server.waitUntil { $0.openConnectionCount == 0 && server.journal.openConnectionCount == 0 }
            }
        }
    }

    @Test("The closure of a route gets the body, with length or chunks")
    func bodies() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.post, "/echo") { request in .bytes(request.body) }
                let client = try RawClient(server)
                client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                _ = try await client.hears { $0.text.hasSuffix("hello") }
                client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
                client.send("3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n")
                let heard = try await client.hearsEverything()
                #expect(heard.text.hasSuffix("\r\n\r\nabc0123456789"))
                let bodies = server.requests.map(\.text)
                #expect(bodies == ["hello", "abc0123456789"])
                client.hangUp()
            }
        }
    }
}
