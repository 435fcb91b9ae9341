import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A slow reader", .fewAtOnce, .overEachTransport, .timeLimit(.ample))
struct BackpressureTests {
    @Test("over URLSession, a slow reader gets all bytes")
    func slowReader() async throws {
        guard TestTransport.current == .urlSession else { return }
        let folder = try TemporaryFolder()
        let transport = URLSessionTransport(connectionsPerHost: 2, folder: folder.url)
        let resource = LoopbackServer.Resource(length: 24 << 20)
        try await withServer { server, service in
            server.on(.get, "/a", answer: .resource(resource))
            var service = service
            service.transport = transport
            let stream = try await service.open(ServiceRequest(.get, "/a"))
            // Nobody reads, and the server gets rid of all of it.
            try await server.waitUntil { $0.connections.first?.bytesSent ?? 0 > resource.length }
            var fingerprint = LoopbackServer.Fingerprint()
            var longest = 0
            for try await piece in stream.bytes {
                longest = max(longest, piece.count)
                fingerprint.add(piece)
            }
            #expect(fingerprint == resource.fingerprint && longest <= 256 << 10)
            // What lay on disk had no name.
            #expect(try folder.names().isEmpty)
        }
    }

    @Test("who stops in the middle stops the transfer")
    func stops() async throws {
        try await withServer { server, service in
            let large = LoopbackServer.Resource(length: 8 << 20)
            server.on(.get, "/a", answer: .resource(large).waiting(for: TestGate(), at: .body(4 << 20)))
            var stream: ServiceStream? = try await service.open(ServiceRequest(.get, "/a"))
            var pieces = stream?.bytes.makeAsyncIterator()
            #expect(try await pieces?.next()?.isEmpty == false)
            pieces = nil
            stream = nil
            #expect(pieces == nil && stream == nil)
            try await server.waitUntil { $0.connections.allSatisfy(\.isClosed) }
        }
    }

    @Test("reads lines and events as they come")
    func events() async throws {
        let gate = TestGate()
        try await withServer { server, service in
            server.on(
                .get, "/a", answer: .text("data: one\n\ndata: two\n\n").chunked(by: 11).dripping(11, through: gate))
            gate.open(for: 1)
            let stream = try await service.open(ServiceRequest(.get, "/a"))
            var events = stream.bytes.events().makeAsyncIterator()
            #expect(try await events.next()?.data == "one")
            gate.open(for: 1)
            #expect(try await events.next()?.data == "two")
            #expect(try await events.next() == nil)
        }
    }
}
