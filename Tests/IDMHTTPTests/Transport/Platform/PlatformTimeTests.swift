import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The handling of time and cancellation that URLSession and libcurl have by themselves, and that the transports turn off.
@Suite("Over each transport, an exchange", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct PlatformTimeTests {
    @Test("ends when its time-out is over, to the millisecond, and its connection is closed")
    func silence() async throws {
        let clock = ManualClock()
        try await withServer { server, service in
            server.on(.get, "/a", answer: .never)
            var service = service
            service.clock = clock
            let request = ServiceRequest(.get, "/a", idleTimeout: .milliseconds(250))

            async let error = service.error(request)
            try await server.waitUntil { $0.requestCount == 1 }
            // One timer for the idle and the total time-out.
            try await clock.waitForSleepers(1)
            #expect(clock.remaining == [.milliseconds(250)])
            await clock.advance(by: .milliseconds(250))

            #expect(await error?.reason.description == "Nothing came or went for 0.25 seconds.")
            try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
        }
    }

    @Test("URLSession's own time-out never ends a request", arguments: [1, 500])
    func noTimeOut(milliseconds: Int) throws {
        let url = try #require(URL(string: "http://h"))
        let request = TransportRequest(.get, url, timeout: .milliseconds(milliseconds)).urlRequest
        #expect(request.timeoutInterval > 86_400 * 365)
    }

    @Test("ends at its deadline, also while bytes come")
    func deadline() async throws {
        let clock = ManualClock()
        let gate = TestGate()
        try await withServer { server, service in
            server.on(.get, "/a", answer: .text("0123456789").dripping(1, through: gate))
            var service = service
            service.clock = clock
            async let error = service.error(ServiceRequest(.get, "/a", totalTimeout: .seconds(3)))
            try await server.waitUntil { $0.requestCount == 1 }
            try await clock.waitForSleepers(1)
            for _ in 0..<2 {
                gate.open(for: 1)
                // The byte has gone, and the next one waits.
                try await gate.waitForTasks(1)
                await clock.advance(by: .seconds(1))
            }
            await clock.advance(by: .seconds(1))
            #expect(await error?.reason.description == "It was not done within 3.0 seconds.")
            try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
        }
    }

    @Test("a cancel ends a request anywhere and closes its connection")
    func cancelled() async throws {
        let answers: [LoopbackServer.Answer] = [
            .never, .text("0123456789").waiting(for: TestGate(), at: .head(5)),
            .text("0123456789").waiting(for: TestGate(), at: .body(0)),
            .text("0123456789").waiting(for: TestGate(), at: .body(5)),
        ]
        for answer in answers {
            try await withServer { server, _ in
                server.on(.get, "/a", answer: answer)
                let task = Task { try await TestTransport.current.shared.get(server.url("/a")).body.all() }
                try await server.waitUntil { $0.requestCount == 1 }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
            }
        }
    }
}
