import Foundation
import IDMCore
import IDMHTTP
import IDMOperations
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

/// Operations around what goes over the network.
@Suite("Operations around requests", .fewAtOnce, .timeLimit(.ample))
struct RequestOperationTests {
    private let queue = OperationQueue()
    private let film = LoopbackServer.Resource(length: 300_000, eTag: "\"v1\"")

    private struct UsersResource: DecodableResource {
        typealias Value = [String]
        var request: ServiceRequest { ServiceRequest(.get, "/users") }
        var rootKeyPath: String? { "items" }
    }

    private func service(_ server: LoopbackServer) -> HTTPService {
        // Longer than a machine with much to do may take.
        HTTPService(configuration: ServiceConfiguration(baseURL: server.url, idleTimeout: .seconds(600)))
    }

    /// Waits at a gate with the film half way, and only the first time.
    private func serveInTwoGoes(_ server: LoopbackServer) {
        let half = LoopbackServer.Answer.resource(film).waiting(for: TestGate(), at: .body(150_000))
        server.on(.get, "/film", answers: [half, .resource(film)])
    }

    @Test func `a download in an operation stops when that is paused, and comes whole when it goes on`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("film")
        try await LoopbackServer.run { server async throws in
            serveInTwoGoes(server)
            let download = ServiceDownload(ServiceRequest(.get, "/film"), to: .file(file))
            let operation = DataProviderOperation(DownloadProvider(service(server)), download)
            queue.addOperation(operation)
            try await server.waitUntil { $0.connections.first.map { $0.bytesSent >= 150_000 } ?? false }
            operation.pause()
            try await server.waitUntil { $0.openConnectionCount == 0 }
            #expect(operation.isExecuting && operation.outcome == nil && server.requests.count == 1)
            operation.resume()
            #expect(try await operation.value.size == 300_000)
            #expect(try Data(contentsOf: file) == film.bytes(0..<300_000))
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a download is a node of a graph, which pauses it`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("film")
        try await LoopbackServer.run { server async throws in
            serveInTwoGoes(server)
            var graph = OperationGraph<Void>()
            let download = ServiceDownload(ServiceRequest(.get, "/film"), to: .file(file))
            let node = graph.add("film", DownloadProvider(service(server)).mapInput { (_: Void) in download })
            let run = graph.start()
            try await server.waitUntil { $0.connections.first.map { $0.bytesSent >= 150_000 } ?? false }
            run.pause()
            try await server.waitUntil { $0.openConnectionCount == 0 }
            run.resume()
            let results = try await run.results
            #expect(results[node]?.size == 300_000)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `an upload and a resource are operations, too`() async throws {
        try await LoopbackServer.run { server async throws in
            server.on(.put, "/film") { .text("\($0.bodyLength)") }
            server.on(.get, "/users", answer: .json(#"{"items": ["Ada", "Max"]}"#))
            let body = RequestBody.bytes(film.bytes(0..<200_000))
            let upload = DataProviderOperation(
                UploadProvider(service(server)), ServiceRequest(.put, "/film", body: body))
            let users = service(server).provider(for: UsersResource.self)
            let load = DataProviderOperation(users, UsersResource()).require(upload)
            queue.addOperation(upload)
            queue.addOperation(load)
            #expect(try await load.value == ["Ada", "Max"])
            #expect(try await upload.value.text == "200000")
        }
    }
}
