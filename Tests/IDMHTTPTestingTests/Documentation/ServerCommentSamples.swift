import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

enum Surroundings {
    static func contract() async throws {
        typealias ClientTransport = URLSessionTransport
        // sample: a transport against the contract
        try await TransportContract.check { ClientTransport() }
        // end
    }

    static func transport(configuration: ServiceConfiguration, gate: TestGate) async throws {
        // sample: a transport without a network
        let transport = StubTransport()
        transport.on(.get, "/v1/users/{id}", answer: .json(#"{"name": "Ada"}"#))
        transport.on(
            .get, "/v1/flaky", answers: [.failure(URLError(.notConnectedToInternet)), .success(.text("at last"))])
        transport.on(.post, "/v1/users") { request in
            try await gate.pass()
            return .json("{}", status: 201)
        }
        let service = HTTPService(configuration: configuration, transport: transport)
        // end
        #expect(try await service.request(ServiceRequest(.get, "/users/1")).status == 200)
        gate.open()
        #expect(try await service.request(ServiceRequest(.post, "/users")).status == 201)
    }

    static func server(film: LoopbackServer.Resource) async throws {
        // sample: a server
        try await LoopbackServer.run { server in
            server.on(.get, "/users/{id}", answer: .json(#"{"name": "Ada"}"#))
            server.on(.get, "/flaky", answers: [.status(503), .text("at last")])
            server.on(.post, "/users") { request in .json(request.body, status: 201) }
            server.on(.get, "/film", answer: .resource(film).cut(at: .body(1_000)))

            let service = HTTPService(configuration: ServiceConfiguration(baseURL: server.url))
            _ = try await service.request(ServiceRequest(.get, "/users/1", headers: ["Accept": "application/json"]))
            let request = try await server.waitForRequest()
            #expect(request.headers[.accept] == "application/json")
        }
        // end
    }

    static func resource(server: LoopbackServer) {
        // sample: something big
        let film = LoopbackServer.Resource(length: 1 << 30, eTag: #""v1""#)
        server.on(.get, "/film", answer: .resource(film))
        // end
    }

    static func answers(server: LoopbackServer, gate: TestGate) {
        // sample: answers, one after the other
        server.on(
            .get, "/users/1",
            answers: [
                .json(#"{"id": 1}"#).header("ETag", #""v1""#),
                .text("hello").chunked(by: 2).cut(at: .body(3)),
                .status(503).header("Retry-After", "2").waiting(for: gate),
            ])
        // end
    }

    static func twoRequests(server: LoopbackServer) async throws {
        // sample: until two requests have come
        try await server.waitUntil { $0.requestCount == 2 }
        // end
    }
}

@Suite("Samples of the comments on servers", .fewAtOnce, .timeLimit(.ample))
struct ServerCommentSamples {
    @Test func `a stub transport`() async throws {
        let url = try #require(URL(string: "https://api.example.com/v1"))
        try await Surroundings.transport(
            configuration: ServiceConfiguration(baseURL: url, idleTimeout: .seconds(600)), gate: TestGate())
    }

    @Test func `a server`() async throws {
        // The sample's time-out is a real one. In a scope it queues for a thread as all else does, and not in front.
        try await TestScope.run(failingOnLeftovers: false) {
            try await Surroundings.server(film: LoopbackServer.Resource(length: 1 << 30))
        }
    }

    @Test func `a resource`() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                Surroundings.resource(server: server)
                let request = ServiceRequest(.get, "/film", headers: ["Range": "bytes=0-9"])
                let part = try await service(of: server).request(request)
                #expect(part.body.count == 10)
            }
        }
    }

    @Test func `answers`() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                let (service, gate) = (service(of: server), TestGate())
                Surroundings.answers(server: server, gate: gate)
                let user = ServiceRequest(.get, "/users/1")
                let first = try await service.request(user)
                #expect(first.headers["ETag"] == #""v1""#)
                await #expect(throws: (any Error).self) { try await service.request(user) }
                gate.open()
                await #expect(throws: (any Error).self) { try await service.request(user) }
            }
        }
    }

    @Test func `a server that two requests have come to`() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, "/users/{id}", answer: .text("Ada"))
                let service = service(of: server)
                async let first = service.request(ServiceRequest(.get, "/users/1"))
                async let second = service.request(ServiceRequest(.get, "/users/2"))
                try await Surroundings.twoRequests(server: server)
                #expect(Set(server.journal.requests.map(\.path)) == ["/users/1", "/users/2"])
                _ = try await (first, second)
            }
        }
    }

    private func service(of server: LoopbackServer) -> HTTPService {
        HTTPService(configuration: ServiceConfiguration(baseURL: server.url, idleTimeout: .seconds(600)))
    }

    @Test func `a transport against the contract`() async throws {
        try await TestScope.run { try await Surroundings.contract() }
    }
}
