import Foundation
import IDMCore
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

private struct User: Decodable {
    let name: String
}

private struct UserResource: DecodableResource {
    let id: String
    typealias Value = User
    var request: ServiceRequest {
        ServiceRequest(.get, "/users/{id}", pathParameters: ["id": id], headers: ["Accept": "application/json"])
    }
}

@Suite("Samples of testing services", .fewAtOnce, .timeLimit(.ample))
struct TestingServicesSamples {
    private let api: ServiceConfiguration

    init() throws {
        api = ServiceConfiguration(
            baseURL: try #require(URL(string: "https://api.example.com/v1")), idleTimeout: .seconds(600))
    }

    // sample: a stub transport
    @Test("A user is shown by name")
    func user() async throws {
        try await TestScope.run {
            let transport = StubTransport()
            transport.on(.get, "/v1/users/{id}", answer: .json(#"{"name": "Ada"}"#))
            let service = HTTPService(configuration: api, transport: transport)
            let user = try await service.fetch(UserResource(id: "1"))
            #expect(user.name == "Ada")
            #expect(transport.requests.first?.headers[.accept] == "application/json")
        }
    }
    // end

    // sample: answers that fail and wait
    @Test("A failure of the network is tried again, and a cancel is not")
    func attempts() async throws {
        try await TestScope.run {
            let gate = TestGate()
            let transport = StubTransport()
            transport.on(
                .get, "/v1/flaky",
                answers: [
                    .failure(URLError(.networkConnectionLost)), .success(.text("at last")),
                ])
            transport.on(.get, "/v1/slow") { _ in
                try await gate.pass()
                return .text("too late")
            }
            let service = HTTPService(
                configuration: api, transport: transport,
                interceptors: [RetryInterceptor(1, delay: .none)])
            let response = try await service.request(ServiceRequest(.get, "/flaky"))
            #expect(response.status == 200)
            let task = Task { try await service.request(ServiceRequest(.get, "/slow")) }
            try await gate.waitForTasks(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
    // end

    // sample: a loopback server
    @Test("A response that breaks off is requested again")
    func brokenOff() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                let film = LoopbackServer.Resource(length: 1_000_000, eTag: #""v1""#)
                server.on(
                    .get, "/film",
                    answers: [.resource(film).cut(at: .body(1_000)), .resource(film)])
                let service = HTTPService(
                    configuration: ServiceConfiguration(baseURL: server.url),
                    interceptors: [RetryInterceptor(1, delay: .none)])
                let response = try await service.request(ServiceRequest(.get, "/film"))
                #expect(response.body == film.bytes(0..<1_000_000))
                #expect(server.requests.count == 2)
            }
        }
    }
    // end

    // sample: waiting for the server
    @Test("A cancelled request closes its connection")
    func cancelled() async throws {
        try await TestScope.run {
            try await LoopbackServer.run { server in
                server.on(.get, "/never", answer: .never)
                let service = HTTPService(
                    configuration: ServiceConfiguration(baseURL: server.url))
                let task = Task { try await service.request(ServiceRequest(.get, "/never")) }
                let request = try await server.waitForRequest()
                #expect(request.target == "/never")
                task.cancel()
                try await server.waitUntil { $0.openConnectionCount == 0 }
            }
        }
    }
    // end
}
