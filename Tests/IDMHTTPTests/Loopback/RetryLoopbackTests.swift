import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Retries, at a real server", .fewAtOnce, .timeLimit(.ample))
struct RetryLoopbackTests {
    private func service(
        _ server: LoopbackServer, _ count: Int = 2, delay: RetryDelay = .none,
        clock: any Clock<Duration> = ManualClock()
    ) -> HTTPService {
        let retry = RetryInterceptor(
            count, delay: delay, clock: clock, now: { Date(timeIntervalSince1970: 1_763_719_200) })
        return server.service(interceptors: [retry])
    }

    @Test("broken connections, transient statuses and time-outs are retried")
    func failures() async throws {
        try await withServer { server, _ in
            let clock = ManualClock()
            server.on(
                .get, "/a",
                answers: [.text("hello").cut(at: .body(2)), .status(503), .never, .status(429), .text("hello")])
            var service = service(server, 4, clock: clock)
            service.clock = clock
            service.configuration.idleTimeout = .seconds(60)
            let task = Task { [service] in await service.outcome() }
            try await server.waitUntil { $0.requestCount == 3 }
            try await clock.waitForSleepers(1)
            await clock.advance(by: .seconds(60))
            #expect(await task.value == "200 hello")
        }
    }

    @Test("a POST is retried only with an idempotency key")
    func methods() async throws {
        try await withServer { server, _ in
            server.on(.post, "/a", answers: [.status(503), .status(503), .text("hello")])
            let service = service(server)
            let post = ServiceRequest(.post, "/a", body: .text("body"))
            #expect(await service.outcome(post) == "status 503")
            var keyed = post
            keyed.headers[.idempotencyKey] = "1"
            #expect(await service.outcome(keyed) == "200 hello")
            #expect(server.requests.map { $0.headers[.idempotencyKey] } == [nil, "1", "1"])
            #expect(server.requests.map(\.text) == ["body", "body", "body"])
        }
    }

    @Test("a one-shot body isn't retried")
    func streams() async throws {
        try await withServer { server, _ in
            server.on(.put, "/a", answers: [.status(503)])
            let stream = AsyncStream<Data> { continuation in
                continuation.yield(Data("once".utf8))
                continuation.finish()
            }
            let request = ServiceRequest(.put, "/a", body: .stream(HTTPBytes(stream)))
            #expect(await service(server).outcome(request) == "status 503")
            #expect(server.requests.map(\.text) == ["once"])
        }
    }

    @Test(
        "a sensible Retry-After delays the retry",
        arguments: [
            ("2", 2), ("0", 0), ("-1", 0), ("1.5", 0), ("soon", 0), ("", 0), ("Fri, 21 Nov 2025 10:00:07 GMT", 7),
            ("Fri, 21 Nov 2025 09:00:00 GMT", 0), ("Fri, 32 Nov 2025 10:00:00 GMT", 0), ("+3", 0), (" 4 ", 4),
        ])
    func retryAfter(value: String, seconds: Int) async throws {
        try await withServer { server, _ in
            let clock = ManualClock()
            server.on(.get, "/a", answers: [.status(503).header("Retry-After", value), .text("hello")])
            let service = service(server, clock: clock)
            let task = Task { await service.outcome() }
            if seconds > 0 {
                try await clock.waitForSleepers(1)
                #expect(clock.remaining == [.seconds(seconds)])
                await clock.advance(by: .seconds(seconds))
            }
            #expect(await task.value == "200 hello")
        }
    }

    @Test("a Retry-After beyond the limits isn't waited for")
    func deadlines() async throws {
        try await withServer { server, _ in
            server.on(
                .get, "/a",
                answers: ["30", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"].map {
                    .status(503).header("Retry-After", $0)
                })
            var service = service(server)
            // Time stands still: only what the server asks for counts.
            service.clock = ManualClock()
            #expect(await service.outcome(ServiceRequest(.get, "/a", totalTimeout: .seconds(20))) == "status 503")
            #expect(await service.outcome() == "status 503")
            #expect(await service.outcome() == "status 503")
        }
    }

    @Test("wait a time that stays in its bounds")
    func jitter() async throws {
        try await withServer { server, _ in
            let clock = ManualClock()
            server.on(.get, "/a", answers: Array(repeating: .status(503), count: 5))
            let service = service(server, 4, delay: .jittered(), clock: clock)
            let task = Task { await service.outcome() }
            for number in 1...4 {
                try await clock.waitForSleepers(1)
                let wait = try #require(clock.remaining.first)
                let longest = Duration.seconds(1 << (number - 1))
                #expect(wait >= longest / 2 && wait <= longest)
                await clock.advance(by: wait)
            }
            #expect(await task.value == "status 503")
        }
    }
}
