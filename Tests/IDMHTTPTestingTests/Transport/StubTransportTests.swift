import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@Suite("A stub transport", .timeLimit(.ample))
struct StubTransportTests {
    private func service(_ transport: StubTransport) throws -> HTTPService {
        let url = try #require(URL(string: "https://api.example.com/v1"))
        // All tests start at once: one of them may not have its turn for a minute.
        return HTTPService(
            configuration: ServiceConfiguration(baseURL: url, idleTimeout: .seconds(600)), transport: transport)
    }

    @Test("A stub transport answers by method and path, and records requests")
    func routes() async throws {
        try await TestScope.run {
            let transport = StubTransport()
            transport.on(.get, "/v1/users/{id}", answer: .json(#"{"name": "Ada"}"#, headers: ["ETag": #""1""#]))
            transport.on(.delete, "/v1/users/{id}", answer: .status(204))
            let service = try service(transport)
            let user = try await service.request(ServiceRequest(.get, "/users/1", query: ["a": "b"]))
            let gone = try await service.request(ServiceRequest(.delete, "/users/2"))
            #expect(user.headers[.contentType] == "application/json")
            #expect(user.headers[.eTag] == #""1""#)
            #expect(String(decoding: user.body, as: UTF8.self) == #"{"name": "Ada"}"#)
            #expect(gone.status == 204)
            #expect(try await transport.waitForRequest().url.absoluteString == "https://api.example.com/v1/users/1?a=b")
            #expect(try await transport.waitForRequest().method == .delete)
            #expect(transport.requests.count == 2)
        }
    }

    @Test("Answers of a route come in order, errors included")
    func order() async throws {
        try await TestScope.run {
            let transport = StubTransport()
            transport.on(.get, "/v1/a", answers: [.failure(URLError(.cannotFindHost)), .success(.text("at last"))])
            let service = try service(transport)
            let error = await #expect(throws: HTTPError.self) { try await service.request(ServiceRequest(.get, "/a")) }
            guard case .transport(URLError.cannotFindHost)? = error?.reason else {
                Issue.record("It failed with \(String(describing: error))")
                return
            }
            #expect(try await service.request(ServiceRequest(.get, "/a")).body == Data("at last".utf8))
        }
    }

    @Test("A closure answers late, and a cancelled request ends")
    func gated() async throws {
        try await TestScope.run {
            let gate = TestGate()
            let transport = StubTransport { request in
                try await gate.pass()
                return .text(request.method.name)
            }
            let service = try service(transport)
            let first = Task { try await service.request(ServiceRequest(.put, "/a")) }
            try await gate.waitForTasks(1)
            let second = Task { try await service.request(ServiceRequest(.get, "/a")) }
            try await gate.waitForTasks(2)
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            gate.open()
            #expect(try await first.value.body == Data("PUT".utf8))
        }
    }

    @Test("The younger matching route answers, and GET answers HEAD")
    func precedence() async throws {
        try await TestScope.run {
            let transport = StubTransport(answer: .text("any"))
            transport.on(.get, "/v1/a*", answer: .text("open"))
            transport.on(.get, "/v1/a/{b}", answer: .text("named"))
            let service = try service(transport)
            func answer(_ method: ServiceRequest.Method, _ path: String) async throws -> String {
                String(decoding: try await service.request(ServiceRequest(method, path)).body, as: UTF8.self)
            }
            #expect(try await answer(.get, "/a/b") == "named")
            #expect(try await answer(.head, "/a/b") == "named")
            #expect(try await answer(.get, "/a/b/c") == "open")
            #expect(try await answer(.get, "/abc") == "open")
            #expect(try await answer(.put, "/a/b") == "any")
            #expect(try await answer(.get, "/b") == "any")
        }
    }

    @Test("A request without a route fails at the line of the transport")
    func unexpected() async throws {
        var line = 0
        let failures = try await TestScope.failures {
            let transport = StubTransport()
            line = #line - 1
            let service = try service(transport)
            let error = await #expect(throws: HTTPError.self) { try await service.request(ServiceRequest(.get, "/a")) }
            guard case .transport(let cause)? = error?.reason else {
                Issue.record("It failed with \(String(describing: error))")
                return
            }
            #expect(cause is TestFailure)
        }
        #expect(failures.map(\.place.line) == [line])
        #expect(failures.map(\.message) == ["A request that no route is for: GET /v1/a. There are no routes."])
    }

    @Test("One request too many fails at the place of the route")
    func exhausted() async throws {
        var line = 0
        let failures = try await TestScope.failures {
            let transport = StubTransport()
            transport.on(.get, "/v1/a", answers: [.success(.text(""))])
            line = #line - 1
            let service = try service(transport)
            _ = try await service.request(ServiceRequest(.get, "/a"))
            await #expect(throws: HTTPError.self) { try await service.request(ServiceRequest(.get, "/a")) }
        }
        #expect(failures.map(\.place.line) == [line])
        #expect(
            failures.map(\.message) == [
                "The route GET /v1/a expected no more than 1 request, and request 2 came: GET /v1/a"
            ])
    }

    @Test("Unused routes fail at the end of the scope or in verify")
    func leftovers() async throws {
        let line = #line + 3
        let failures = try await TestScope.failures {
            let transport = StubTransport()
            transport.on(.get, "/a", answer: .text(""))
            transport.on(.post, "/b", answers: [.success(.text("")), .success(.text(""))])
            transport.on(nil, "/c") { _ in .text("") }
            transport.on(nil, "/d", failing: URLError(.timedOut))
        }
        #expect(
            failures.map(\.summary) == [
                "\(line): The route GET /a expected a request, and none came.",
                "\(line + 1): The route POST /b expected 2 requests, and none came.",
                "\(line + 2): The route /c expected a request, and none came.",
                "\(line + 3): The route /d expected a request, and none came.",
            ])
        let asked = try await TestScope.failures(failingOnLeftovers: false) {
            StubTransport(failing: URLError(.timedOut)).verify()
            StubTransport(answer: .text("")).verify()
            StubTransport { _ in .text("") }.verify()
        }
        let last = #line - 2
        let words = "The route * expected a request, and none came."
        #expect(asked.map(\.summary) == [last - 2, last - 1, last].map { "\($0): \(words)" })
    }

    @Test("Each unused route is reported once")
    func leftoversOnce() async throws {
        let failures = try await TestScope.failures {
            let transport = StubTransport()
            transport.on(.get, "/a", answer: .text(""))
            for _ in 0..<2 { transport.verify() }
            transport.on(.get, "/b", answer: .text(""))
        }
        #expect(
            failures.map(\.message) == [
                "The route GET /a expected a request, and none came.",
                "The route GET /b expected a request, and none came.",
            ])
    }
}
