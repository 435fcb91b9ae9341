import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

private typealias Bearer = AuthenticationInterceptor<BearerAuthenticator<String>>

@Suite("Authentication, at a real server", .fewAtOnce, .timeLimit(.ample))
struct AuthLoopbackTests {
    /// A server that takes one token only.
    private func guarded(_ server: LoopbackServer, _ valid: String = "new") {
        server.on(.get, "/a") { request in
            request.headers[.authorization] == "Bearer \(valid)" ? .text("hello") : .status(401)
        }
    }

    private func service(_ server: LoopbackServer, _ authentication: Bearer, connections: Int = 64) -> HTTPService {
        var service = server.service(interceptors: [authentication])
        service.transport = URLSessionTransport(connectionsPerHost: connections)
        return service
    }

    /// How many requests came with a token.
    private func count(_ server: LoopbackServer, _ token: String) -> Int {
        server.requests.count { $0.headers[.authorization] == "Bearer \(token)" }
    }

    private func outcome(_ service: HTTPService) async -> String {
        do {
            return try await service.request(ServiceRequest(.get, "/a")).text
        } catch let error as HTTPError {
            return error.reason.words
        } catch AuthenticationError.refreshFailed(let error as HTTPError) {
            return "refresh failed: \(error.reason.words)"
        } catch AuthenticationError.refreshFailed(let error) {
            return "refresh failed: \(error)"
        } catch {
            return "\(error)"
        }
    }

    @Test("Fifty requests that are rejected together make one refresh, and each goes once more", .oneAtATime)
    func storm() async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            // Nobody is rejected before all are there: one who comes while a refresh runs would wait for it.
            let together = TestGate()
            server.on(
                .get, "/a",
                answers: Array(repeating: .status(401).waiting(for: together), count: 50)
                    + Array(repeating: .text("hello"), count: 50))
            server.on(.post, "/token", answers: [.text("new").waiting(for: gate)])
            let service = service(server, .refreshing(for: server.url, credential: "old"))
            let tasks = (0..<50).map { _ in Task { await outcome(service) } }
            try await server.waitUntil { $0.requests.count { $0.target == "/a" } == 50 }
            together.open()
            try await gate.waitForTasks(1)
            gate.open()
            for task in tasks { #expect(await task.value == "hello") }
            #expect(count(server, "old") == 50 && count(server, "new") == 50)
            #expect(server.requests.count { $0.target == "/token" } == 1)
            #expect(server.requests.first { $0.target == "/token" }?.headers[.authorization] == nil)
        }
    }

    @Test(
        "a failed refresh fails all its requests with the reason",
        arguments: [
            (.status(401), "refresh failed: status 401"), (.status(500), "refresh failed: status 500"),
            (.hangUp, "refresh failed: lost"), (.text(""), "refresh failed: \(AuthenticationError.unusableCredential)"),
            (.text("a\r\nb"), "refresh failed: \(AuthenticationError.unusableCredential)"),
        ] as [(LoopbackServer.Answer, String)])
    func failures(answer: LoopbackServer.Answer, expected: String) async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            let together = TestGate()
            server.on(.get, "/a", answer: .status(401).waiting(for: together))
            server.on(.post, "/token", answer: answer.waiting(for: gate))
            let service = service(server, .refreshing(for: server.url, credential: "old"))
            let tasks = (0..<3).map { _ in Task { await outcome(service) } }
            try await server.waitUntil { $0.requests.count { $0.target == "/a" } == 3 }
            together.open()
            gate.open()
            for task in tasks {
                let outcome = await task.value
                #expect(outcome == expected, "\(outcome)")
            }
            #expect(count(server, "") == 0, "An empty token is never sent")
        }
    }

    @Test("A retry of one user's request doesn't go with the next user's credential")
    func retryOverLogin() async throws {
        try await withServer { server, _ in
            server.on(.put, "/a") { $0.headers[.authorization] == "Bearer ada" ? .status(503) : .text("saved") }
            let clock = ManualClock()
            let authentication = AuthenticationInterceptor(
                BearerAuthenticator<String>(), for: server.url, credential: "ada")
            let retry = RetryInterceptor(2, delay: .constant(.seconds(1)), clock: clock)
            let service = server.service(interceptors: [retry, authentication])
            let task = Task { await service.outcome(ServiceRequest(.put, "/a", body: .text("Ada's own"))) }
            try await clock.waitForSleepers(1)
            authentication.logOut()
            authentication.logIn("bob")
            await clock.advance(by: .seconds(1))

            #expect(await task.value == "\(AuthenticationError.userHasChanged)")
            #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer ada"])
        }
    }

    @Test("a one-shot body isn't replayed, but the next request is authorized")
    func readOnce() async throws {
        try await withServer { server, _ in
            server.on(.put, "/a") { $0.headers[.authorization] == "Bearer new" ? .text("done") : .status(401) }
            server.on(.post, "/token", answer: .text("new"))
            let service = service(server, .refreshing(for: server.url, credential: "old"))
            func outcome() async -> String {
                let body = RequestBody.stream(HTTPBytes(Data("film".utf8)))
                return await service.outcome(ServiceRequest(.put, "/a", body: body))
            }
            let (first, second) = (await outcome(), await outcome())
            #expect(first == "bad request" && second == "200 done")
            #expect(server.requests.map(\.target) == ["/a", "/token", "/a"])
        }
    }

    @Test("A refresh that hangs fails after its time-out")
    func hanging() async throws {
        try await withServer { server, _ in
            guarded(server)
            server.on(.post, "/token", answer: .never)
            let clock = ManualClock()
            let service = service(
                server, .refreshing(for: server.url, credential: "old", timeout: .seconds(30), clock: clock))
            let task = Task { await outcome(service) }
            try await server.waitUntil { $0.requestCount == 2 }
            try await clock.waitForSleepers(1)
            await clock.advance(by: .seconds(30))
            let expected = DataProviderError.timedOut(after: .seconds(30))
            #expect(await task.value == "refresh failed: \(expected)")
            try await server.waitUntil { $0.connections.count { $0.isClosed } >= 1 }
        }
    }

    @Test("an unchanged token is replayed once, then rejected")
    func sameToken() async throws {
        try await withServer { server, _ in
            guarded(server)
            server.on(.post, "/token", answer: .text("old"))
            let service = service(server, .refreshing(for: server.url, credential: "old"))
            #expect(await outcome(service) == "status 401")
            #expect(count(server, "old") == 2)
        }
    }

    @Test("A rejection after the replay is the answer")
    func stillRejected() async throws {
        try await withServer { server, _ in
            server.on(.get, "/a", answers: [.status(401), .status(401)])
            server.on(.post, "/token", answers: [.text("new")])
            let service = service(server, .refreshing(for: server.url, credential: "old"))
            #expect(await outcome(service) == "status 401")
            #expect(server.requests.map(\.target) == ["/a", "/token", "/a"])
        }
    }

    @Test("a rejection of an outdated token starts no refresh")
    func rotated() async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            server.on(.get, "/a", answers: [.status(401).waiting(for: gate), .text("hello")])
            let authentication = Bearer.refreshing(for: server.url, credential: "old")
            let service = service(server, authentication)
            let task = Task { await outcome(service) }
            try await gate.waitForTasks(1)
            authentication.replaceCredential("new")
            gate.open()
            #expect(await task.value == "hello")
            #expect(count(server, "old") == 1 && count(server, "new") == 1)
        }
    }

    @Test("a logout during a refresh prevents all later deliveries")
    func logout() async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            guarded(server)
            server.on(.post, "/token", answer: .text("new").waiting(for: gate))
            let authentication = Bearer.refreshing(for: server.url, credential: "old")
            let service = service(server, authentication)
            let task = Task { await outcome(service) }
            try await gate.waitForTasks(1)
            authentication.logOut()
            #expect(await task.value == "\(AuthenticationError.userHasChanged)")
            gate.open()
            #expect(await outcome(service) == "status 401")
            #expect(authentication.credential == nil)
            #expect(count(server, "new") == 0)
        }
    }

    @Test("A response that comes after the logout is not delivered")
    func lateResponse() async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            server.on(.get, "/a", answer: .text("of the old user").waiting(for: gate, at: .body(3)))
            let authentication = Bearer.refreshing(for: server.url, credential: "old")
            let service = service(server, authentication)
            let task = Task { await outcome(service) }
            try await gate.waitForTasks(1)
            authentication.logOut()
            gate.open()
            #expect(await task.value == "\(AuthenticationError.userHasChanged)")
        }
    }

    @Test("A refresh goes on when the request that began it is cancelled")
    func cancelledRefresh() async throws {
        try await withServer { server, _ in
            let gate = TestGate()
            guarded(server)
            server.on(.post, "/token", answers: [.text("new").waiting(for: gate)])
            let service = service(server, .refreshing(for: server.url, credential: "old"))
            let first = Task { await outcome(service) }
            try await gate.waitForTasks(1)
            first.cancel()
            #expect(await first.value == "CancellationError()")
            gate.open()
            #expect(await outcome(service) == "hello")
            #expect(server.requests.count { $0.target == "/token" } == 1)
        }
    }
}
