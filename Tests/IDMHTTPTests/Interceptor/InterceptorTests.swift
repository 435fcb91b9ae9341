import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("An interceptor", .timeLimit(.ample))
struct InterceptorTests {
    @Test("stands in the order in which a request passes, and a response comes back")
    func order() async throws {
        let steps = Log()
        func named(_ name: String) -> ClosureInterceptor {
            ClosureInterceptor { request, next in
                steps.add("\(name) in")
                var request = request
                request.headers.add("X", name)
                var response = try await next(request)
                steps.add("\(name) out")
                response.headers.add("X", name)
                return response
            }
        }
        let transport = ScriptedTransport("ok")

        let response = try await HTTPService(transport, interceptors: [named("a"), named("b")])
            .request(ServiceRequest(.get, "/"))

        #expect(steps.entries == ["a in", "b in", "b out", "a out"])
        #expect(transport.asked.first?.headers["X"] == "a, b")
        #expect(response.headers["X"] == "b, a")
    }

    @Test("may answer itself")
    func answer() async throws {
        let transport = ScriptedTransport("network")
        let service = try HTTPService(
            transport,
            interceptors: [ClosureInterceptor { _, _ in ServiceResponse(status: 500, body: Data("own".utf8)) }])

        // Its answer is its own: nobody judges it.
        #expect(try await service.request(ServiceRequest(.get, "/")).text == "own")
        #expect(transport.asked.isEmpty)
    }

    @Test("an interceptor can change and repeat a request")
    func again() async throws {
        let transport = ScriptedTransport { request in
            .text("", status: request.headers["Attempt"] == "3" ? 200 : 503)
        }
        let service = try HTTPService(
            transport,
            interceptors: [
                ClosureInterceptor { request, next in
                    var request = request
                    for attempt in 1...5 {
                        request.headers["Attempt"] = "\(attempt)"
                        do {
                            return try await next(request)
                        } catch let error as HTTPError where error.status == 503 {}
                    }
                    throw CancellationError()
                }
            ])

        #expect(try await service.request(ServiceRequest(.get, "/")).status == 200)
        #expect(transport.asked.count == 3)
    }

    @Test("an interceptor receives the rules' failures")
    func verdicts() async throws {
        struct Failure: Error {}
        let service = try HTTPService(
            ScriptedTransport("ok"),
            interceptors: [
                ClosureInterceptor { request, next in
                    do {
                        return try await next(request)
                    } catch let error as HTTPError where error.failure(as: Failure.self) != nil {
                        return ServiceResponse(body: Data("saved".utf8))
                    }
                }
            ], rules: [ResponseRule { _ in .rejected(Failure()) }])

        #expect(try await service.request(ServiceRequest(.get, "/")).text == "saved")
    }

    @Test("an interceptor's own error reaches the caller unchanged")
    func ownErrors() async throws {
        struct Mine: Error {}
        let service = try HTTPService(
            ScriptedTransport("ok"), interceptors: [ClosureInterceptor { _, _ in throw Mine() }])

        await #expect(throws: Mine.self) { try await service.request(ServiceRequest(.get, "/")) }
    }

    @Test("can't make a request that couldn't be made without it")
    func checked() async throws {
        let transport = ScriptedTransport("ok")
        let service = try HTTPService(
            transport,
            interceptors: [
                ClosureInterceptor { request, next in
                    var request = request
                    request.headers["X"] = "a\r\nB: c"
                    return try await next(request)
                }
            ])

        guard case .badRequest(.headerValue("X", byte: 13, at: 1)) = await service.error()?.reason else {
            Issue.record("sent")
            return
        }
        #expect(transport.asked.isEmpty)
    }

    @Test("an interceptor gets the configuration, and runs without a service")
    func alone() async throws {
        let chain = InterceptorChain(
            [
                ClosureInterceptor { _, next in
                    ServiceResponse(body: Data(next.configuration.baseURL.absoluteString.utf8))
                }
            ],
            configuration: try api("https://h")
        ) { _ in ServiceResponse() }

        #expect(try await chain(ServiceRequest(.get, "/")).text == "https://h")
    }
}
