import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A retry", .timeLimit(.ample))
struct RetryInterceptorTests {
    /// Fails so many times, and answers then.
    private func transport(
        failing count: Int, with status: Int = 503, headers: ServiceHeaders = [:], error: (any Error)? = nil
    ) -> ScriptedTransport {
        let rest = Mutex(count)
        return ScriptedTransport { _ in
            let fails = rest.withLock { rest in
                rest -= 1
                return rest >= 0
            }
            if fails, let error { throw error }
            return .text("", status: fails ? status : 200, headers: headers)
        }
    }

    private func service(
        _ transport: ScriptedTransport, _ count: Int = 2, delay: RetryDelay = .none, budget: RetryBudget? = nil,
        maximumWait: Duration = .seconds(60), clock: ManualClock = ManualClock()
    ) throws -> HTTPService {
        var retry = RetryInterceptor(count, delay: delay, maximumWait: maximumWait, budget: budget, clock: clock)
        retry.now = { Date(timeIntervalSince1970: 100) }
        return try HTTPService(transport, interceptors: [retry])
    }

    @Test("a transient status is retried up to the count", arguments: [408, 429, 502, 503, 504])
    func statuses(status: Int) async throws {
        let enough = transport(failing: 2, with: status)
        #expect(try await service(enough).request(ServiceRequest(.get, "/")).status == 200)
        #expect(enough.asked.count == 3)

        let tooMany = transport(failing: 3, with: status)
        #expect(try await service(tooMany).error()?.status == status)
        #expect(tooMany.asked.count == 3)
    }

    @Test(
        "a transport failure and a time-out are retried",
        arguments: [
            URLError(.networkConnectionLost), URLError(.timedOut), URLError(.cancelled), CancellationError(),
        ] as [any Error])
    func transportFailures(error: any Error) async throws {
        let transport = transport(failing: 1, error: error)
        #expect(try await service(transport).request(ServiceRequest(.get, "/")).status == 200)
        #expect(transport.asked.count == 2)
    }

    @Test("a permanent status isn't retried", arguments: [400, 401, 403, 404, 409, 422, 500, 501])
    func stays(status: Int) async throws {
        let transport = transport(failing: 1, with: status)
        #expect(try await service(transport).error()?.status == status)
        #expect(transport.asked.count == 1)
    }

    @Test(
        "a permanent fault isn't retried",
        arguments: [
            (.lost, 2), (.unreachable, 2), (.truncated, 2), (.notCached, 1), (.untrusted(.other), 1), (.noSpace, 1),
            (.notPutAside(code: 13), 1), (.headerTooLarge(limit: 1), 1),
        ] as [(TransportFault.Kind, Int)])
    func faults(kind: TransportFault.Kind, attempts: Int) async throws {
        let transport = ScriptedTransport { _ in throw TransportFault(kind) }
        #expect(try await service(transport, 1).error() != nil)
        #expect(transport.asked.count == attempts)
    }

    @Test("a count of zero or less means no retry", arguments: [0, -1, Int.min])
    func noCount(count: Int) async throws {
        let transport = transport(failing: 1)
        #expect(try await service(transport, count).error()?.status == 503)
        #expect(transport.asked.count == 1)
    }

    @Test(
        "unsafe methods are retried only with an idempotency key",
        arguments: [
            ("GET", nil, true), ("HEAD", nil, true), ("OPTIONS", nil, true), ("PUT", nil, true), ("DELETE", nil, true),
            ("POST", nil, false), ("PATCH", nil, false), ("PURGE", nil, false), ("POST", "k", true),
            ("PATCH", "k", true),
            ("POST", "", false),
        ] as [(String, String?, Bool)])
    func methods(name: String, key: String?, isRepeated: Bool) async throws {
        let transport = transport(failing: 1)
        var request = ServiceRequest(.init(name), "/")
        request.headers[.idempotencyKey] = key

        let error = try await service(transport).error(request)
        #expect((error == nil) == isRepeated)
        #expect(transport.asked.count == (isRepeated ? 2 : 1))
        #expect(Set(transport.asked.map { $0.headers[.idempotencyKey] }) == [key])
    }

    @Test("a one-shot body isn't retried")
    func bodies() async throws {
        for isReplayable in [false, true] {
            let transport = transport(failing: 1)
            let body = RequestBody.stream(HTTPBytes(Data("x".utf8)), isReplayable: isReplayable)
            let error = try await service(transport).error(ServiceRequest(.put, "/", body: body))
            #expect((error == nil) == isReplayable)
            #expect(transport.asked.count == (isReplayable ? 2 : 1))
        }
    }

    @Test(
        "waits for its delay, and for a Retry-After that is longer",
        arguments: [
            (nil, 5), ("2", 5), ("9", 9), ("garbage", 5), ("Thu, 01 Jan 1970 00:01:47 GMT", 7),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 5),
        ] as [(String?, Int)])
    func delays(retryAfter: String?, wait: Int) async throws {
        let clock = ManualClock()
        var headers: ServiceHeaders = [:]
        headers[.retryAfter] = retryAfter
        let transport = transport(failing: 1, headers: headers)
        let service = try service(transport, delay: .constant(.seconds(5)), clock: clock)

        async let response = service.request(ServiceRequest(.get, "/"))
        try await clock.waitForSleepers(1)
        #expect(clock.remaining == [.seconds(wait)])
        #expect(transport.asked.count == 1)
        await clock.advance(by: .seconds(wait))
        #expect(try await response.status == 200)
    }

    @Test("waits for a resume as well")
    func paused() async throws {
        let clock = ManualClock()
        let transport = transport(failing: 1)
        let service = try service(transport, delay: .constant(.seconds(5)), clock: clock)
        let control = PauseControl()
        let response = Task { try await control.bind { try await service.request(ServiceRequest(.get, "/")) } }
        try await clock.waitForSleepers(1)
        control.pause()
        await clock.advance(by: .seconds(5))
        // Another one goes all its way meanwhile.
        _ = try await service.request(ServiceRequest(.get, "/other"))
        #expect(transport.asked.map(\.url.path) == ["/v1", "/v1/other"])
        control.resume()
        #expect(try await response.value.status == 200 && transport.asked.count == 3)
    }

    @Test(
        "a delay beyond the maximum or the total time-out isn't waited for",
        arguments: [
            ("61", nil), ("99999999999999999999", nil), ("50", 50), ("50", 40),
        ] as [(String, Int?)])
    func tooLong(retryAfter: String, deadline: Int?) async throws {
        let transport = transport(failing: 1, headers: ["Retry-After": retryAfter])
        let request = ServiceRequest(.get, "/", totalTimeout: deadline.map { .seconds($0) })
        var service = try service(transport)
        service.clock = ManualClock()

        #expect(await service.error(request)?.status == 503)
        #expect(transport.asked.count == 1)
    }

    @Test("takes from a budget that many share")
    func budget() async throws {
        let budget = RetryBudget(capacity: 3, refill: 0)
        let transport = transport(failing: .max)
        let service = try service(transport, 2, budget: budget)

        for _ in 0..<3 { #expect(await service.error()?.status == 503) }
        #expect(transport.asked.count == 3 + 3)
    }

    @Test("ends at once when the request is cancelled while it waits")
    func cancelled() async throws {
        let clock = ManualClock()
        let transport = transport(failing: 1)
        let service = try service(transport, delay: .constant(.seconds(5)), clock: clock)

        let task = Task { try await service.request(ServiceRequest(.get, "/")) }
        try await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.asked.count == 1)
    }

    @Test("a custom condition decides about retries")
    func condition() async throws {
        let transport = transport(failing: 1, with: 500)
        let service = try HTTPService(
            transport, interceptors: [RetryInterceptor(1, delay: .none) { $0.status == 500 }])

        #expect(try await service.request(ServiceRequest(.get, "/")).status == 200)
    }
}
