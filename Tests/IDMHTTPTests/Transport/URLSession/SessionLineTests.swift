#if canImport(FoundationNetworking)
import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("More exchanges than connections", .fewAtOnce, .timeLimit(.ample))
struct SessionLineTests {
    /// A transport of one connection that says who has to wait.
    private struct Narrow: HTTPTransport {
        let transport = URLSessionTransport(connectionsPerHost: 1)
        let queued = Log()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var request = request
            let didQueue = request.didQueue
            request.didQueue = { [path = request.url.path] in
                didQueue()
                queued.add(path)
            }
            return try await transport.send(request)
        }
    }

    /// Begins requests, each after the first of which waits in line.
    private func begin(
        _ requests: [ServiceRequest], _ service: HTTPService, _ transport: Narrow, _ server: LoopbackServer
    ) async throws -> [Task<String, Never>] {
        var tasks: [Task<String, Never>] = []
        for request in requests {
            tasks.append(Task { await service.outcome(request) })
            if tasks.count == 1 { try await server.waitUntil { $0.requests.count == 1 } }
            try await transport.queued.count(reaches: tasks.count - 1)
        }
        return tasks
    }

    @Test("wait in their order, and no silence counts meanwhile")
    func silence() async throws {
        try await withServer { server, _ in
            let (gate, clock, transport) = (TestGate(), ManualClock(), Narrow())
            let service = HTTPService(
                configuration: ServiceConfiguration(baseURL: server.url), transport: transport, clock: clock)
            server.on(.get, "/{id}") { request in
                request.path == "/0" ? .text("0").waiting(for: gate) : .text(request.path)
            }
            let requests = (0..<4).map {
                ServiceRequest(.get, "/\($0)", idleTimeout: .seconds($0 == 0 ? 1_000 : 1))
            }
            let tasks = try await begin(requests, service, transport, server)
            for _ in 0..<3 { await clock.advance(by: .seconds(10)) }
            gate.open()
            var outcomes: [String] = []
            for task in tasks { outcomes.append(await task.value) }
            #expect(outcomes == ["200 0", "200 /1", "200 /2", "200 /3"])
            #expect(server.requests.map(\.path) == ["/0", "/1", "/2", "/3"])
        }
    }

    @Test("a cancelled waiting exchange ends at once and isn't sent")
    func cancelled() async throws {
        try await withServer { server, _ in
            let (gate, transport) = (TestGate(), Narrow())
            let service = HTTPService(
                configuration: ServiceConfiguration(baseURL: server.url, idleTimeout: .patient), transport: transport)
            server.on(.get, "/0", answer: .text("0").waiting(for: gate))
            server.on(.get, "/2", answer: .text("2"))
            let requests = (0..<3).map { ServiceRequest(.get, "/\($0)") }
            let tasks = try await begin(requests, service, transport, server)
            tasks[1].cancel()
            #expect(await tasks[1].value == "CancellationError()")
            gate.open()
            #expect(await tasks[0].value == "200 0")
            #expect(await tasks[2].value == "200 2")
            #expect(server.requests.map(\.path) == ["/0", "/2"])
        }
    }

    @Test("waiting exchanges all begin despite random cancels")
    func storm() async throws {
        try await withServer { server, _ in
            var service = server.service()
            service.transport = URLSessionTransport(connectionsPerHost: 2)
            server.on(.get, "/a", answer: .text("hello"))
            server.on(.get, "/b", answer: .hangUp)
            var random = SplitMix(seed: 7)
            for _ in 0..<20 {
                let tasks = (0..<20).map { number in
                    Task { [service] in await service.outcome(ServiceRequest(.get, number % 5 == 0 ? "/b" : "/a")) }
                }
                for task in tasks where Bool.random(using: &random) { task.cancel() }
                for task in tasks { _ = await task.value }
            }
            #expect(await service.outcome() == "200 hello")
        }
    }
}
#endif
