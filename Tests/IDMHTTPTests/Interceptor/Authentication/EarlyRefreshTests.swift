import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A refresh before expiry", .timeLimit(.ample))
struct EarlyRefreshTests {
    private struct Token: Sendable, Equatable {
        var text: String
        var expiry: Date?
    }

    private struct Refused: Error {}

    private let now = Date(timeIntervalSince1970: 1_000)
    private let saved = Observed<[String]>([])
    private let refreshed = Observed(0)

    private func service(
        _ token: Token, lifetime: TimeInterval = 600, failing error: (any Error)? = nil
    ) throws -> (HTTPService, ScriptedTransport) {
        let (saved, refreshed, now) = (saved, refreshed, now)
        let transport = ScriptedTransport("x")
        let scheme = BearerAuthenticator<Token>(token: \.text, expiry: \.expiry) { _, _ in
            refreshed.change { $0 += 1 }
            if let error { throw error }
            return Token(text: "new", expiry: now + lifetime)
        }
        let authentication = AuthenticationInterceptor(
            scheme, for: try #require(URL(string: "https://h")), credential: token, refreshTimeout: .patient,
            clock: ContinuousClock(), now: { now }, onRefresh: { token in saved.change { $0.append(token.text) } })
        return (try HTTPService(transport, interceptors: [authentication]), transport)
    }

    @Test("happens once for many requests, is saved, and none is rejected first")
    func early() async throws {
        let (service, transport) = try service(Token(text: "old", expiry: now + 10))
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = await service.error() } }
        }
        #expect(Set(transport.asked.map { $0.headers[.authorization] }) == ["Bearer new"])
        #expect(refreshed.value == 1 && saved.value == ["new"])
    }

    @Test("doesn't happen long before, or for a credential without an expiry", arguments: [nil, 31.0])
    func late(seconds: TimeInterval?) async throws {
        let (service, transport) = try service(Token(text: "old", expiry: seconds.map { now + $0 }))
        _ = await service.error()
        #expect(transport.asked.map { $0.headers[.authorization] } == ["Bearer old"] && refreshed.value == 0)
    }

    @Test("a failed early refresh keeps a valid credential in use", arguments: [10.0, -1])
    func failing(seconds: TimeInterval) async throws {
        let (service, transport) = try service(Token(text: "old", expiry: now + seconds), failing: Refused())
        let request = ServiceRequest(.get, "/a")
        if seconds > 0 {
            _ = try await service.request(request)
        } else {
            await #expect(throws: AuthenticationError.self) { try await service.request(request) }
        }
        #expect(transport.asked.count == (seconds > 0 ? 1 : 0) && saved.value.isEmpty)
    }

    @Test("a short-lived credential isn't refreshed early repeatedly")
    func shortLived() async throws {
        let (service, _) = try service(Token(text: "old", expiry: now), lifetime: 5)
        for _ in 0..<3 { _ = await service.error() }
        #expect(refreshed.value == 1)
    }

    @Test(
        "a refused refresh shows the login screen, a lost connection doesn't",
        arguments: [400, 401, 429, nil])
    func refused(status: Int?) async throws {
        let shown = Observed(0)
        let reason = status.map { HTTPError.Reason.status($0) } ?? .transport(TransportFault(.unreachable))
        let error = HTTPError(reason, request: "POST /token", response: status.map { ServiceResponse(status: $0) })
        var (service, _) = try service(Token(text: "old", expiry: now), failing: error)
        service.interceptors.insert(.unauthorized { _ in shown.change { $0 += 1 } }, at: 0)
        _ = await service.error()
        #expect(shown.value == (status == 400 || status == 401 ? 1 : 0))
    }
}
