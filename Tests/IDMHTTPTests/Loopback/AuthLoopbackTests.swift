import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

private typealias Bearer = AuthenticationInterceptor<BearerAuthenticator<String>>

@Suite("Authentication, at a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct AuthLoopbackTests {
    private func service(
        _ server: LoopbackServer, _ authentication: Bearer, connections: Int = 64
    ) throws -> HTTPService {
        var service = server.service(interceptors: [authentication])
        service.transport = try TestTransport.current.made(connectionsPerHost: connections)
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
            let service = try service(server, .refreshing(for: server.url, credential: "old"))
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
            let service = try service(server, .refreshing(for: server.url, credential: "old"))
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
}
