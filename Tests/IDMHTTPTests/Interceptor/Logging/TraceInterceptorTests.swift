import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A trace interceptor", .timeLimit(.ample))
struct TraceInterceptorTests {
    private let trace = TraceRecorder(clock: ManualClock())

    @Test("a trace records a request and its events without secrets")
    func request() async throws {
        let transport = ScriptedTransport { request in
            request.url.path == "/v1/a"
                ? .text("", status: 302, headers: ["Location": "/v1/b?token=s3cret"]) : .text("body")
        }
        let service = try HTTPService(transport, interceptors: [TraceInterceptor(trace)])
        _ = try await service.request(ServiceRequest(.get, "/a", query: ["key": "s3cret"]))
        #expect(trace.entries.map(\.name).first == "GET /a?key=<redacted>")
        #expect(trace.entries.first?.detail == "success 200")
        #expect(
            trace.entries.dropFirst().map(\.name) == [
                "attempt 1", "response 302", "redirect to https://h/v1/b?token=<redacted>", "attempt 2",
                "response 200", "received 4 bytes",
            ])
        #expect(trace.entries.allSatisfy { $0.track == "http" })
        #expect(!trace.chromeTrace.contains("s3cret"))
    }

    @Test("records how a request fails, and that it is cancelled")
    func failures() async throws {
        let service = try HTTPService(ScriptedTransport(status: 503), interceptors: [TraceInterceptor(trace)])
        #expect(await service.error()?.status == 503)
        let gone = try HTTPService(
            ScriptedTransport(),
            interceptors: [
                TraceInterceptor(trace, on: "other"), ClosureInterceptor { _, _ in throw CancellationError() },
            ])
        await #expect(throws: CancellationError.self) { try await gone.request(ServiceRequest(.get, "/a")) }
        let wholes = trace.entries.filter { $0.parent == nil }
        #expect(wholes.first?.detail.hasPrefix("failure: ") == true)
        #expect(wholes.last?.detail == "cancelled")
        #expect(wholes.last?.track == "other")
    }

    @Test("a trace ignores an abandoned request")
    func leftBehind() async throws {
        let (isAsked, isOpen, isRead) = (Observed(false), Observed(false), Observed(false))
        let transport = ScriptedTransport { _ in
            isAsked.change { $0 = true }
            try await isOpen.wait(ignoringCancel: true) { $0 }
            return TransportResponse(status: 200, body: HTTPBytes(NoticedBody(isRead: isRead)))
        }
        let service = try HTTPService(transport, interceptors: [TraceInterceptor(trace)])
        let task = Task { try await service.request(ServiceRequest(.get, "/a")) }
        try await isAsked.wait { $0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        isOpen.change { $0 = true }
        // Its response has been told of by then.
        try await isRead.wait { $0 }
        #expect(trace.entries.map(\.name) == ["GET /a", "attempt 1"])
    }

    @Test("a trace records the same events as the logs around it")
    func beside() async throws {
        let logs = Observed<[EventLogInterceptor.Log]>([])
        let log = EventLogInterceptor { log in logs.change { $0.append(log) } }
        let service = try HTTPService(ScriptedTransport("x"), interceptors: [log, TraceInterceptor(trace), log])
        _ = try await service.request(ServiceRequest(.get, "/a"))
        let kinds = ["attempt 1", "response 200", "received 1 bytes", "success 200"]
        #expect(logs.value.map { $0.events.map(\.kind.description) } == [kinds, kinds])
        #expect(trace.entries.dropFirst().map(\.name) == Array(kinds.dropLast()))
    }
}

/// A body of nothing, which tells that it is read.
private struct NoticedBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let isRead: Observed<Bool>

    func makeAsyncIterator() -> NoticedBody { self }

    mutating func next() async throws -> Data? {
        isRead.change { $0 = true }
        return nil
    }
}
