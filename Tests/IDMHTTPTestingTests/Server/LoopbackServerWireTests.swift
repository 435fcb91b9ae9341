import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@Suite("On the wire, a loopback server", .fewAtOnce, .timeLimit(.ample))
struct LoopbackServerWireTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
    private static func post(_ length: Int, more: String = "") -> String {
        "POST /a HTTP/1.1\r\nHost: h\r\n\(more)Content-Length: \(length)\r\n\r\n"
    }

    @Test("A cut answer closes its connection, and a reset answer resets it")
    func ends() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                let answer = LoopbackServer.Answer.text("hello")
                let gate = TestGate()
                server.on(
                    .get, "/a",
                    answers: [
                        answer.cut(at: .body(2)), .hangUp,
                        answer.waiting(for: gate, at: .body(2)).reset(at: .body(2)), .reset,
                    ])
                for (body, isReset) in [("he", false), ("", false), ("he", true), ("", true)] {
                    let client = try RawClient(server)
                    client.send(Self.get)
                    if body == "he" && isReset {
                        // What has come before a reset is heard only if it is read before.
                        _ = try await client.hears { $0.body == "he" }
                        gate.open()
                    }
                    let heard = try await client.hearsEverything()
                    #expect(heard.body == body)
                    #expect(heard.isReset == isReset)
                    client.hangUp()
                }
            }
        }
    }

    @Test("An answer at a gate ends when the client is gone")
    func waits() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                let gate = TestGate()
                server.on(.get, "/a", answers: [.text("a").waiting(for: gate, at: .body(0)), .never])
                let client = try RawClient(server)
                client.send(Self.get)
                let head = try await client.hears { $0.text.hasSuffix("\r\n\r\n") }
                #expect(head.body.isEmpty)
                try await gate.waitForTasks(1)
                gate.open()
                _ = try await client.hears { $0.text.hasSuffix("a") }
                client.send(Self.get)
                try await server.waitUntil { $0.requestCount == 2 }
                #expect(server.journal.openConnectionCount == 1)
                client.hangUp()
                try await server.waitUntil { $0.openConnectionCount == 0 }
                #expect(server.journal.connections.map(\.isClosed) == [true])
            }
        }
    }

    @Test("An answer waits for a clock")
    func clocks() async throws {
        try await TestScope.run {
            let clock = ManualClock()
            try await LoopbackServer.run { server in
                server.on(.get, "/a", answer: .text("abc").dripping(1, every: .seconds(1), on: clock))
                let client = try RawClient(server)
                client.send(Self.get)
                for heard in ["", "a", "ab"] {
                    try await clock.waitForSleepers(1)
                    _ = try await client.hears { $0.text.hasSuffix("\r\n\r\n" + heard) }
                    await clock.advance(by: .seconds(1))
                }
                _ = try await client.hears { $0.body == "abc" }
                client.hangUp()
            }
        }
    }

    @Test("An early answer precedes the rest of the body")
    func early() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.post, "/a", answers: [.status(413).early(), .text("two").early(after: 3)])
                let client = try RawClient(server)
                client.send(Self.post(10) + "01")
                _ = try await client.hears { $0.text.contains("413") }
                let first = try await server.waitForRequest()
                #expect(!first.isComplete)
                client.send("23456789" + Self.post(5) + "ab")
                try await server.waitUntil { $0.connections[0].bytesReceived >= 10 + 2 + 2 * Self.post(5).utf8.count }
                #expect(server.requests.count == 1)
                client.send("c")
                _ = try await client.hears { $0.text.hasSuffix("two") }
                let second = try await server.waitForRequest()
                #expect(second.text == "abc")
                #expect(!second.isComplete)
                client.hangUp()
            }
        }
    }

    @Test("A server sends 100 Continue only if it wants the body")
    func expectations() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.post, "/a", answers: [.text("thanks"), .status(413).early()])
                let client = try RawClient(server)
                let head = Self.post(1, more: "Expect: 100-continue\r\n")
                client.send(head)
                _ = try await client.hears { $0.text == "HTTP/1.1 100 Continue\r\n\r\n" }
                client.send("x")
                _ = try await client.hears { $0.text.hasSuffix("thanks") }
                client.send(head)
                let heard = try await client.hearsEverything()
                #expect(heard.text.contains("413"))
                #expect(!heard.text.dropFirst(30).contains("100 Continue"))
                client.hangUp()
            }
        }
    }

    @Test("A server reads an upload at the pace of a gate")
    func slowReading() async throws {
        try await TestScope.run {
            let gate = TestGate()
            let server = try LoopbackServer(keepingBodiesUpTo: 100)
            server.on(.put, "/a", answer: .status(201).reading(1 << 16, through: gate))
            let body = LoopbackServer.Resource(length: 32 << 20)
            let client = try RawClient(server)
            client.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.length)\r\n\r\n")
            client.send(Array(body.bytes(0..<body.length)))
            try await gate.waitForTasks(1)
            gate.open(for: 4)
            try await gate.waitForTasks(1)
            // The first block may come with the header, and each time no more than a block.
            #expect(server.journal.connections[0].bytesReceived <= 5 << 16)
            gate.open()
            let request = try await server.waitForRequest()
            #expect(request.isComplete)
            #expect(request.body == body.bytes(0..<100))
            #expect(request.bodyLength == body.length)
            #expect(request.fingerprint == body.fingerprint)
            client.hangUp()
            await server.stop()
        }
    }

    @Test("A server reports a blocked connection")
    func backpressure() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                let film = LoopbackServer.Resource(length: 64 << 20)
                server.on(.get, "/a", answer: .resource(film).closing())
                let client = try RawClient(server, listening: false)
                client.send(Self.get)
                try await server.waitUntil { $0.connections.first?.isBlocked == true }
                #expect(server.journal.connections[0].bytesSent < 32 << 20)
                client.listen()
                let heard = try await client.hearsEverything()
                let content = Data(heard.bytes.suffix(film.length))
                #expect(LoopbackServer.Fingerprint(of: content) == film.fingerprint)
                #expect(server.journal.connections[0].bytesSent == heard.bytes.count)
                #expect(!server.journal.connections[0].isBlocked)
                client.hangUp()
            }
        }
    }

    @Test("A server records a broken upload as far as it came")
    func brokenUpload() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.post, "/a", answer: .text("never said"))
                let client = try RawClient(server)
                client.send(Self.post(10) + "abc")
                try await server.waitUntil { $0.connections.first?.bytesReceived == Self.post(10).utf8.count + 3 }
                client.hangUp()
                let request = try await server.waitForRequest()
                #expect(request.text == "abc")
                #expect(!request.isComplete)
            }
        }
    }

    @Test("A server cancels the closure of a gone client")
    func goneClient() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                let asked = ControlledDataProvider<Int, String>()
                server.on(.get, "/a") { request in .text(try await asked.request(request.connection)) }
                let client = try RawClient(server)
                client.send(Self.get)
                let request = try await asked.waitForRequest()
                client.hangUp()
                try await request.waitUntilCancelled()
                try await server.waitUntil { $0.openConnectionCount == 0 }
            }
        }
    }

    @Test("A stop ends all work of a server, and may be repeated")
    func stops() async throws {
        try await TestScope.run {
            let server = try LoopbackServer()
            let gate = TestGate()
            server.on(.get, "/a", answers: [.never, .text("a").dripping(1, through: gate)])
            let clients = [try RawClient(server), try RawClient(server), try RawClient(server)]
            clients[0].send(Self.get)
            _ = try await server.waitForRequest()
            clients[1].send(Self.get)
            try await gate.waitForTasks(1)
            try await server.waitUntil { $0.connectionCount == 3 }
            await server.stop()
            for client in clients { #expect(try await client.hearsEverything().isOver) }
            #expect(server.journal.openConnectionCount == 0)
            #expect(throws: POSIXError.self) { try RawClient(server) }
            await server.stop()
        }
    }

    @Test("A released server stops")
    func released() async throws {
        try await TestScope.run {
            var server: LoopbackServer? = try LoopbackServer()
            let client = try RawClient(try #require(server))
            server = nil
            #expect(try await client.hearsEverything().bytes.isEmpty)
        }
    }

    @Test("A server without a memory still counts requests")
    func counts() async throws {
        try await TestScope.run {
            let server = try LoopbackServer(remembers: false)
            server.on(.get, "/a", answer: .text("end").closing())
            for _ in 0..<3 {
                let client = try RawClient(server)
                client.send(Self.get)
                #expect(try await client.hearsEverything().body == "end")
                client.hangUp()
            }
            try await server.waitUntil { $0.openConnectionCount == 0 }
            #expect(server.journal.requestCount == 3)
            #expect(server.journal.connectionCount == 3)
            #expect(server.requests.isEmpty && server.journal.connections.isEmpty)
            await server.stop()
        }
    }

    @Test("Many servers don't disturb each other", .oneAtATime)
    func manyServers() async throws {
        try await TestScope.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await LoopbackServer.run { server in
                            server.on(.get, "/a", answer: .text("\(number)").closing())
                            for _ in 0..<5 {
                                let client = try RawClient(server)
                                client.send(Self.get)
                                #expect(try await client.hearsEverything().body == "\(number)")
                                client.hangUp()
                            }
                            #expect(server.requests.count == 5)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
