import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

extension HTTPCacheTests {
    private func exchange(_ send: @escaping CachedExchange.Send) -> CachedExchange {
        CachedExchange(cache: cache(), secrets: .standard, isShared: true, send: send)
    }

    private func request() throws -> TransportRequest {
        TransportRequest(.get, try #require(URL(string: "https://example.com/a")))
    }

    @Test("an idle time-out counts again after the wait for an equal request")
    func idleAfterWait() async throws {
        let (asked, events, gate) = (Log(), Log(), Signal())
        let exchange = exchange { _ in
            asked.add("asked")
            if asked.count == 1 { try await gate.wait() }
            return .text("x", headers: ["Cache-Control": "no-store"])
        }
        var second = try request()
        second.didQueue = { events.add("queued") }
        second.didSend = { events.add("sent \($0)") }

        let first = Task { [first = try request()] in _ = try await exchange.response(to: first) }
        try await asked.count(reaches: 1)
        let last = Task { [second] in _ = try await exchange.response(to: second) }
        try await events.count(reaches: 1)
        gate.open()
        try await first.value
        try await last.value

        #expect(events.entries == ["queued", "sent 0"])
    }

    @Test("a silent validation behind an answer ends with the idle time-out")
    func silentValidation() async throws {
        let (asked, cancelled, clock) = (Log(), Log(), ManualClock())
        var exchange = exchange { request in
            guard request.headers[.ifNoneMatch] != nil else {
                let field = "max-age=5, stale-while-revalidate=60"
                return .text("first", headers: ["ETag": "\"1\"", "Cache-Control": field])
            }
            asked.add("asked")
            try await withTaskCancellationHandler {
                try await Signal().wait()
            } onCancel: {
                cancelled.add("cancelled")
            }
            return .text("")
        }
        exchange.clock = clock
        var request = try request()
        request.timeout = .seconds(10)
        for try await _ in try await exchange.response(to: request).body {}
        time.change { $0 += 10 }

        _ = try await exchange.response(to: request)
        try await asked.count(reaches: 1)
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(10))

        try await cancelled.count(reaches: 1)
    }
}
