#if os(Linux)
import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("What a server sends unasked, over libcurl", .fewAtOnce, .timeLimit(.ample))
struct CurlPoisoningTests {
    /// A response after which a connection is kept open, and how the request for it is made.
    enum First: String, CaseIterable {
        case ok, noContent, notModified, head, unauthorized, redirect

        var response: String {
            switch self {
            case .ok: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            case .noContent: "HTTP/1.1 204 No Content\r\n\r\n"
            case .notModified: "HTTP/1.1 304 Not Modified\r\n\r\n"
            case .head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            case .unauthorized: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
            case .redirect: "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n"
            }
        }

        var request: ServiceRequest { ServiceRequest(self == .head ? .head : .get, "/first") }
    }

    private static let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"

    @Test(
        "never answers the next request, whatever was answered before",
        arguments: First.allCases, Volume.isFull ? [0, 1, 10, 50, 100, 500] : [0, 20])
    func everyFirst(first: First, pause milliseconds: Int) async throws {
        let gate = DispatchSemaphore(value: 0)
        let isSent = TestGate()
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                guard head.contains(" /first ") else {
                    connection.write(Self.answer)
                    continue
                }
                connection.write(first.response)
                // Behind the time at which the client has read the response.
                gate.wait()
                usleep(UInt32(milliseconds) * 1_000)
                connection.write(Self.unasked)
                isSent.open(for: 1)
                connection.waitForClose()
            }
        }
        try await withRawServer(serve) { server, service in
            var service = service
            service.configuration.redirects = .handOver
            service.rules = [.accept([200, 204, 302, 304, 401])]
            for round in 0..<(Volume.isFull ? 1_000 / 6 : 5) {
                _ = await service.outcome(first.request)
                gate.signal()
                try await isSent.pass()
                let next = ServiceRequest(round.isMultiple(of: 2) ? .get : .post, "/next")
                #expect(await service.outcome(next) == "200 right", "round \(round)")
            }
        }
    }

    @Test("is dropped with its connection where it comes in one piece with a response", arguments: First.allCases)
    func inOnePiece(first: First) async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                connection.write(head.contains(" /first ") ? first.response + Self.unasked : Self.answer)
            }
        }
        try await withRawServer(serve) { _, service in
            var service = service
            service.configuration.redirects = .handOver
            service.rules = [.accept([200, 204, 302, 304, 401])]
            for method in [ServiceRequest.Method.get, .post] {
                _ = await service.outcome(first.request)
                #expect(await service.outcome(ServiceRequest(method, "/next")) == "200 right")
            }
        }
    }

    @Test("Connections are used again for the same credentials, and never for others")
    func credentials() async throws {
        let seen = Locked<[String]>([])
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let user = head.split(separator: "\r\n").first {
                    $0.hasPrefix("Authorization") || $0.hasPrefix("X-API")
                }
                seen.withLock { $0.append("\(user.map(String.init) ?? "nobody") at \(connection.number)") }
                connection.write(Self.answer)
            }
        }
        try await withRawServer(serve) { server, service in
            let headers: [ServiceHeaders] = [
                [:], ["Authorization": "ada"], ["Authorization": "bob"], ["X-API-Key": "1", "Accept": "a"],
            ]
            for header in headers + headers + [["Accept": "b"]] {
                _ = await service.outcome(ServiceRequest(.get, "/", headers: header))
            }
            let expected = ["nobody at 1", "Authorization: ada at 2", "Authorization: bob at 3", "X-API-Key: 1 at 4"]
            #expect(seen.withLock { $0 } == expected + expected + ["nobody at 1"])
        }
    }

    @Test("The cookies of one store share connections, however they change, until they belong to another user")
    func cookies() async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while connection.readHead() != nil {
                let cookie = "Set-Cookie: balancer=\(Int.random(in: 1...1_000_000))"
                connection.write("HTTP/1.1 200 OK\r\n\(cookie)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        try await withRawServer(serve) { server, service in
            var service = service
            let cookies = ServiceCookies()
            service.configuration.cookies = cookies
            for _ in 0..<3 { _ = await service.outcome() }
            // The first request has no cookies yet, and nobody's connection.
            #expect(server.connectionCount == 2)
            cookies.removeAll()
            for _ in 0..<2 { _ = await service.outcome() }
            #expect(server.connectionCount == 3)
        }
    }
}
#endif
