import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("An event log", .timeLimit(.ample))
struct EventLogInterceptorTests {
    private let logs = Observed<[EventLogInterceptor.Log]>([])

    private func service(
        _ transport: ScriptedTransport, clock: ManualClock = ManualClock(), inner: [any HTTPInterceptor] = []
    ) throws -> HTTPService {
        let log = EventLogInterceptor(clock: clock) { log in logs.change { $0.append(log) } }
        return try HTTPService(transport, interceptors: [log] + inner)
    }

    private var kinds: [String] { logs.value.first?.events.map { "\($0.kind)" } ?? [] }

    @Test("the log covers a request from attempt to end")
    func success() async throws {
        _ = try await service(ScriptedTransport("body"))
            .request(ServiceRequest(.post, "/a", query: ["key": "s3cret"], body: .text("abc")))

        #expect(logs.value.map(\.request) == ["POST /a?key=<redacted>"])
        #expect(kinds == ["attempt 1, 3 bytes", "response 200", "received 4 bytes", "success 200"])
    }

    @Test("the log names retries with reasons and times")
    func retries() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(status: 503)
        let retry = RetryInterceptor(1, delay: .constant(.milliseconds(1500)), clock: clock)
        let service = try service(transport, clock: clock, inner: [retry])

        async let error = service.error()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(1500))
        #expect(await error?.status == 503)
        #expect(
            logs.value.first?.description == """
                GET /a
                0.000 s attempt 1
                0.000 s response 503
                0.000 s received 0 bytes
                0.000 s retry 1 after 1.500 s: GET /a: The server answered with the status 503.
                1.500 s attempt 2
                1.500 s response 503
                1.500 s received 0 bytes
                1.500 s failure: GET /a: The server answered with the status 503.
                """)
    }

    @Test(
        "the log names redirects without secrets",
        arguments: [
            ("token=s3cret", "token=<redacted>"), ("name=token&value=s3cret", "name=token&value=<redacted>"),
            ("next=%252Fy%253Ftoken%253Ds3cret", "next=<redacted>"),
            ("variables=%7B%22password%22%3A%22s3cret%22%7D", "variables=<redacted>"),
        ])
    func redirects(query: String, shown: String) async throws {
        let transport = ScriptedTransport { request in
            request.url.host == "h"
                ? .text("", status: 302, headers: ["Location": "https://other/?\(query)"]) : .text("x")
        }
        _ = try await service(transport).request(ServiceRequest(.get, "/"))

        #expect(
            kinds == [
                "attempt 1", "response 302", "redirect to https://other/?\(shown)", "attempt 2", "response 200",
                "received 1 bytes", "success 200",
            ])
    }

    @Test("the log names a refresh and its request")
    func refresh() async throws {
        let transport = ScriptedTransport { request in
            .text("b", status: request.headers[.authorization] == "Bearer a" ? 401 : 200)
        }
        let scheme = BearerAuthenticator<String>(token: { $0 }) { _, next in
            try await next(ServiceRequest(.post, "/token")).text
        }
        let authentication = try AuthenticationInterceptor(
            scheme, for: #require(URL(string: "https://h")), credential: "a", refreshTimeout: .patient)
        _ = try await service(transport, inner: [authentication]).request(ServiceRequest(.get, "/"))

        #expect(
            kinds == [
                "attempt 1", "response 401", "received 1 bytes", "refresh", "attempt 2", "response 200",
                "received 1 bytes",
                "attempt 3", "response 200", "received 1 bytes", "success 200",
            ])
    }

    @Test("the log names queued and cancelled requests")
    func queued() async throws {
        let gate = Signal()
        let running = Signal()
        let queued = Signal()
        let limit = ConcurrencyInterceptor(limit: 1) { queued.open() }
        let transport = ScriptedTransport { _ in
            running.open()
            try await gate.wait()
            return .text("")
        }
        let service = try service(transport, inner: [limit])
        let first = Task { try await service.request(ServiceRequest(.get, "/")) }
        try await running.wait()
        let second = Task { try await service.request(ServiceRequest(.get, "/")) }
        try await queued.wait()
        second.cancel()
        _ = try? await second.value
        try await logs.wait { $0.count == 1 }

        #expect(kinds == ["queued", "failure: cancelled"])
        gate.open()
        _ = try await first.value
    }

    @Test("the log names invalid requests and transport errors without secrets")
    func failures() async throws {
        _ = await (try service(ScriptedTransport())).error(ServiceRequest(.get, "/{id}"))
        #expect(kinds == ["failure: GET /{id}: The path “/{id}” names the parameter “id”, which isn't there."])

        let leak = URLError(.networkConnectionLost, userInfo: ["url": "s3cret"])
        _ = await (try service(ScriptedTransport(failing: leak))).error()
        #expect(logs.value.last?.description.contains("s3cret") == false)
        #expect(logs.value.last?.events.last?.kind.description.contains("-1005") == true)
    }

    @Test("all logs name an exceeded total time-out", arguments: [false, true])
    func deadline(isDeaf: Bool) async throws {
        let (clock, lines, trace) = (ManualClock(), Observed<[String]>([]), TraceRecorder(clock: ManualClock()))
        let (asked, release) = (Signal(), Signal())
        let transport = ScriptedTransport { _ in
            asked.open()
            if isDeaf { await release.waitIgnoringCancel() } else { try await release.wait() }
            return .text("")
        }
        var service = try service(
            transport, clock: clock,
            inner: [
                TraceInterceptor(trace), LoggingInterceptor(clock: clock) { line in lines.change { $0.append(line) } },
            ])
        service.clock = clock

        async let error = service.error(ServiceRequest(.get, "/a", totalTimeout: .milliseconds(250)))
        try await asked.wait()
        try await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(250))
        let reason = "GET /a: It was not done within 0.25 seconds."
        #expect(try await "\(#require(error))" == reason)
        try await logs.wait { !$0.isEmpty }
        #expect(kinds == ["attempt 1", "failure: \(reason)"])
        #expect(lines.value == ["→ GET /a", "✗ \(reason) 0.250 s"])
        #expect(trace.entries.first?.detail == "failure: \(reason)")
        release.open()
    }

    @Test("the log is written once per request")
    func once() async throws {
        let service = try service(ScriptedTransport("x"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 { group.addTask { _ = try await service.request(ServiceRequest(.get, "/\(index)")) } }
            try await group.waitForAll()
        }
        #expect(Set(logs.value.map(\.request)).count == 100 && logs.value.count == 100)
        #expect(logs.value.allSatisfy { $0.events.count == 4 })
    }
}
