import Foundation
import IDMHTTP
@testable import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@Suite("A loopback server finds fault with", .fewAtOnce, .timeLimit(.ample))
struct LoopbackServerFailureTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

    @Test("A request without a route fails at the line of the server")
    func unexpected() async throws {
        var line = 0
        let failures = try await TestScope.failures {
            line = #line + 1
            try await LoopbackServer.run { server in
                let client = try RawClient(server)
                client.send("PUT /a?b=c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                let heard = try await client.hearsEverything()
                #expect(heard.text.hasPrefix("HTTP/1.1 501 "))
                #expect(heard.body == "A request that no route is for: PUT /a?b=c. There are no routes.")
                #expect(server.requests.map(\.target) == ["/a?b=c"])
            }
        }
        #expect(failures.map(\.message) == ["A request that no route is for: PUT /a?b=c. There are no routes."])
        #expect(failures.map(\.place.line) == [line])
    }

    @Test("A request too many fails at the line of the route")
    func exhausted() async throws {
        var line = 0
        let failures = try await TestScope.failures {
            try await LoopbackServer.run { server in
                server.on(.get, "/a", answers: [.text("one")])
                line = #line - 1
                for expected in ["one", "The route GET /a expected no more than 1 request, and request 2 came: GET /a"]
                {
                    let client = try RawClient(server)
                    client.send(Self.get)
                    #expect(try await client.hearsEverything().body == expected)
                }
            }
        }
        #expect(failures.map(\.place.line) == [line])
        #expect(
            failures.map(\.message) == [
                "The route GET /a expected no more than 1 request, and request 2 came: GET /a"
            ])
    }

    @Test("Bytes that are no request fail")
    func garbage() async throws {
        let failures = try await TestScope.failures {
            try await LoopbackServer.run { server in
                let client = try RawClient(server)
                client.send("GET /\r\nX: injected\r\n\r\n")
                #expect(try await client.hearsEverything().text.hasPrefix("HTTP/1.1 400 "))
                #expect(server.requests.isEmpty)
            }
        }
        #expect(failures.map(\.message) == ["What came isn't a request: its first line hasn't three words."])
    }

    @Test("A closure that throws fails at the line of the route")
    func throwing() async throws {
        var line = 0
        let failures = try await TestScope.failures {
            try await LoopbackServer.run { server in
                server.on(.get, "/{name}") { _ in throw POSIXError(.EIO) }
                line = #line - 1
                let client = try RawClient(server)
                client.send(Self.get)
                #expect(try await client.hearsEverything().text.hasPrefix("HTTP/1.1 500 "))
            }
        }
        #expect(failures.map(\.place.line) == [line])
        #expect(failures.first?.message.hasPrefix("The route GET /{name} threw: ") == true)
    }

    @Test("Failures and routes have the task-locals of the server")
    func bound() async throws {
        let heard = Observed<[String]>([])
        @Sendable func hear(_ words: String) { heard.change { $0.append("\(Bound.name): \(words)") } }
        try await Bound.$name.withValue("the test") {
            try await TestScope.run(reportingTo: { hear($0.message) }) {
                try await LoopbackServer.run { server in
                    server.on(.get, "/a") { request in
                        hear("route")
                        throw CancellationError()
                    }
                    for request in [Self.get, Self.get.replacing("/a", with: "/b"), "GET /\r\n\r\n"] {
                        let client = try RawClient(server)
                        client.send(request)
                        _ = try await client.hearsEverything()
                    }
                }
            }
        }
        #expect(
            heard.value == [
                "the test: route", "the test: The route GET /a threw: CancellationError()",
                "the test: A request that no route is for: GET /b. The routes: GET /a.",
                "the test: What came isn't a request: its first line hasn't three words.",
            ])
    }

    @Test("A request without a route fails before its body arrives")
    func unexpectedFirst() async throws {
        let heard = Observed(0)
        try await TestScope.run(reportingTo: { _ in heard.change { $0 += 1 } }) {
            try await LoopbackServer.run { server in
                let clients = [try RawClient(server), try RawClient(server)]
                clients[0].send(Self.get)
                _ = try await server.waitForRequest()
                #expect(heard.value == 1)
                clients[1].send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n")
                try await heard.wait { $0 == 2 }
            }
        }
    }

    @Test("A system without a free port throws a start fault")
    func noPort() async throws {
        await #expect(processExitsWith: .success) {
            let made = try withoutDescriptors { Result { try LoopbackServer() } }
            #expect(throws: LoopbackServer.StartFault(call: "socket", code: EMFILE)) { try made.get() }
            // It goes on afterwards.
            try await LoopbackServer.run { server in #expect(server.port > 0) }
        }
    }

    @Test("A start fault names a full descriptor table")
    func refused() {
        let words = [EMFILE, EINVAL].map { "\(LoopbackServer.StartFault(call: "socket", code: $0))" }
        let reason = "as the process has as many files open as it may have"
        #expect(words[0] == "The system refused a port: socket failed with \(EMFILE), \(reason).")
        #expect(words[1] == "The system refused a port: socket failed with \(EINVAL).")
    }

    @Test("Unused routes fail at the end of the scope or in verify")
    func leftovers() async throws {
        let line = #line + 3
        let failures = try await TestScope.failures {
            try await LoopbackServer.run { server in
                server.on(.get, "/a", answers: [.text(""), .text("")])
                server.on(nil, "/b", answer: .hangUp)
                server.redirect(through: ["/c", "/d", "/e"])
                let client = try RawClient(server)
                client.send(Self.get)
                _ = try await client.hearsEverything()
            }
        }
        #expect(
            failures.map(\.summary) == [
                "\(line): The route GET /a expected 2 requests, and 1 came.",
                "\(line + 1): The route /b expected a request, and none came.",
                "\(line + 2): The route /c expected a request, and none came.",
                "\(line + 2): The route /d expected a request, and none came.",
            ])
        let asked = try await TestScope.failures(failingOnLeftovers: false) {
            let server = try LoopbackServer()
            server.on(.get, "/a", answer: .text(""))
            server.verify()
        }
        #expect(asked.map(\.message) == ["The route GET /a expected a request, and none came."])
    }

    @Test("Each unused route is reported once, also after a stop", arguments: [false, true])
    func leftoversOnce(stops: Bool) async throws {
        let failures = try await TestScope.failures {
            let server = try LoopbackServer()
            server.on(.get, "/a", answer: .text(""))
            server.verify()
            server.on(.get, "/b", answer: .text(""))
            if stops {
                await server.stop()
                server.verify()
            }
        }
        #expect(
            failures.map(\.message) == [
                "The route GET /a expected a request, and none came.",
                "The route GET /b expected a request, and none came.",
            ])
    }
}

private enum Bound {
    @TaskLocal static var name = "nobody"
}
