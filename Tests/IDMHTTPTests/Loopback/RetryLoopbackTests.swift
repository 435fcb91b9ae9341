import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Retries, at a real server", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
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
