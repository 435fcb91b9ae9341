import Foundation
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A log", .timeLimit(.ample))
struct LoggingInterceptorTests {
    private func lines(
        _ transport: ScriptedTransport, _ request: ServiceRequest, as style: LoggingInterceptor.Style = .line,
        inner: [any HTTPInterceptor] = []
    ) async throws -> [String] {
        let lines = Mutex<[String]>([])
        let log = LoggingInterceptor(style, clock: ManualClock()) { line in lines.withLock { $0.append(line) } }
        let service = try HTTPService(transport, interceptors: [log] + inner)
        _ = try? await service.request(request)
        return lines.withLock { $0 }
    }

    private static let request = ServiceRequest(
        .post, "/a", query: ["key": "s3cret", "page": 1], headers: ["Authorization": "Bearer s3cret"],
        body: .json(["password": "s3cret"]))

    @Test("a request and its response are logged without secrets")
    func success() async throws {
        let transport = ScriptedTransport(headers: ["Set-Cookie": "s3cret"], "s3cret body")

        #expect(
            try await lines(transport, Self.request) == [
                "→ POST /a?key=<redacted>&page=1", "← POST /a?key=<redacted>&page=1: 200, 11 bytes, 0.000 s",
            ])
    }

    @Test("a failure is logged without secrets")
    func failure() async throws {
        struct Leak: Error { let token = "s3cret" }
        let status = try await lines(ScriptedTransport(status: 401, "s3cret"), Self.request)
        #expect(status.last == "✗ POST /a?key=<redacted>&page=1: The server answered with the status 401. 0.000 s")
        for error in [Leak() as any Error, URLError(.badURL, userInfo: ["url": "s3cret"])] {
            #expect(try await !lines(ScriptedTransport(failing: error), Self.request).joined().contains("s3cret"))
        }
        let failing = ClosureInterceptor { _, _ in throw Leak() }
        let own = try await lines(ScriptedTransport(), Self.request, inner: [failing])
        #expect(own.count == 2 && !own.joined().contains("s3cret"))
    }

    @Test("a request can be logged as a command")
    func curl() async throws {
        let lines = try await lines(ScriptedTransport(), Self.request, as: .curl)

        #expect(lines.first?.hasPrefix("→ curl --request 'POST'") == true)
        #expect(!lines.joined().contains("s3cret"))
    }

    @Test("an invalid request is logged as far as possible")
    func badRequest() async throws {
        let lines = try await lines(ScriptedTransport(), ServiceRequest(.get, "/{id}"), as: .curl)

        #expect(lines.first == "→ GET /{id}" && lines.last?.hasPrefix("✗ GET /{id}: ") == true)
    }

    @Test("the duration of a request is logged")
    func time() async throws {
        let clock = ManualClock()
        let lines = Mutex<[String]>([])
        let log = LoggingInterceptor(clock: clock) { line in lines.withLock { $0.append(line) } }
        let service = try HTTPService(
            ScriptedTransport { _ in
                await clock.advance(by: .milliseconds(61_007))
                return .text("")
            }, interceptors: [log])

        _ = try await service.request(ServiceRequest(.get, "/"))
        #expect(lines.withLock { $0.last } == "← GET /: 200, 0 bytes, 61.007 s")
    }
}
