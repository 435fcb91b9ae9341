#if os(Linux)
import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Bodies of redirects, which no reader asks for.
@Suite("CurlTransport redirects", .fewAtOnce, .timeLimit(.ample))
struct CurlRedirectTests {
    @Test("An endless body of a redirect blocks no request, and is dropped")
    func endlessRedirect() async throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        let isClosed = TestGate()
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                if head.hasPrefix("GET /a ") {
                    connection.write("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 1000000000000\r\n\r\n")
                    while connection.write(zeros) {}
                    isClosed.open()
                } else {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                }
            }
        }
        try await withRawServer(serve) { _, service in
            async let redirected = service.outcomes(count: 4)
            let others = await service.outcomes(of: ServiceRequest(.get, "/c"), count: 20)
            #expect(await redirected.union(others) == ["200 hello"])
            try await isClosed.pass()
        }
    }

    @Test("A redirect with a short body keeps its connection")
    func shortRedirect() async throws {
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                if head.hasPrefix("GET /a ") {
                    connection.write("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 30000\r\n\r\n")
                    for _ in 0..<3 {
                        connection.pause(milliseconds: 10)
                        connection.write([UInt8](repeating: 0, count: 10_000))
                    }
                } else {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                }
            }
        }
        try await withRawServer(serve) { server, service in
            #expect(await service.outcome() == "200 hello")
            // The connection of the redirect is idle once its body has come.
            #expect(await service.outcome(ServiceRequest(.get, "/a")) == "200 hello")
            #expect(server.connectionCount <= 3)
        }
    }

    @Test(
        "A packed body of a redirect is skipped without being unpacked",
        arguments: [60 << 20, 100 << 20, 8 << 30])
    func packed(length: Int) async throws {
        try await withServer { server, shared in
            let service = HTTPService(configuration: shared.configuration, transport: try CurlTransport())
            server.on(.get, "/a", answer: .gzipBomb(unpacking: length, status: 302).header("Location", "/b"))
            for path in ["/b", "/c"] { server.on(.get, path, answer: .text("hello")) }
            async let redirected = service.outcomes(count: 4)
            let others = await service.outcomes(of: ServiceRequest(.get, "/c"), count: 20)
            #expect(await redirected.union(others) == ["200 hello"])
        }
    }

    enum Stall: CaseIterable {
        /// The redirect is followed, to a response that comes or never does.
        case answered, cancelledHop, timedOutHop
        /// The redirect is handed over, and its body read.
        case cancelledBody, timedOutBody

        var isFollowed: Bool { self != .cancelledBody && self != .timedOutBody }
        var isCancelled: Bool { self == .cancelledHop || self == .cancelledBody }
        var expected: String {
            self == .answered ? "200 hello" : isCancelled ? "CancellationError()" : "timed out idle(1.0 seconds)"
        }
    }

    @Test("A redirect with a stalled body ends in time and drops the connection", arguments: Stall.allCases)
    func stalled(stall: Stall) async throws {
        let (hasArrived, isClosed) = (TestGate(), TestGate())
        let serve = { @Sendable (connection: RawConnection) in
            while let head = connection.readHead() {
                let isRedirect = head.hasPrefix("GET /a ")
                if isRedirect {
                    connection.write("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 10\r\n\r\nhello")
                }
                if isRedirect != stall.isFollowed { hasArrived.open() }
                if isRedirect || stall != .answered && head.hasPrefix("GET /b ") {
                    connection.waitForClose()
                    isClosed.open(for: 1)
                    return
                }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        try await withRawServer(serve) { _, service in
            let clock = ManualClock()
            var service = service
            service.clock = clock
            service.configuration.redirects = stall.isFollowed ? .follow : .handOver
            service.rules = [.accept([200, 302])]
            let request = Task { [service] in
                await service.outcome(ServiceRequest(.get, "/a", idleTimeout: .seconds(1)))
            }
            try await hasArrived.pass()
            #expect(await service.outcome(ServiceRequest(.get, "/c")) == "200 hello")
            if stall.isCancelled {
                request.cancel()
            } else if stall != .answered {
                try await clock.waitForSleepers(1)
                await clock.advance(by: .seconds(1))
            }
            #expect(await request.value == stall.expected)
            // That of the redirect, and that of its target.
            for _ in 0..<(stall.isFollowed && stall != .answered ? 2 : 1) { try await isClosed.pass() }
        }
    }
}
#endif
