import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Server-sent events over several connections", .timeLimit(.ample))
struct ServerSentEventStreamTests {
    private struct Broken: Error {}

    private static let header: ServiceHeaders = ["Content-Type": "text/event-stream; charset=utf-8"]

    /// Answers each connection with the next of some bodies. Nil is a connection that breaks, and the status behind the
    /// last one is 204.
    private func service(_ bodies: [String?]) throws -> (HTTPService, ScriptedTransport) {
        let rest = Observed(bodies)
        let transport = ScriptedTransport { _ in
            let next: String?? = rest.change { $0.isEmpty ? .none : .some($0.removeFirst()) }
            guard let body = next else { return .text("", status: 204) }
            guard let body else { throw TransportFault(.lost) }
            return .text(body, headers: Self.header)
        }
        return (try HTTPService(transport), transport)
    }

    /// Reads all events. Returns what was read, and the waits between connections.
    private func read(_ bodies: [String?]) async throws -> (data: [String], ids: [String?], waits: [Duration]) {
        let (service, transport) = try service(bodies)
        let waits = Observed<[Duration]>([])
        var stream = service.events(ServiceRequest(.get, "/feed"))
        stream.pause = { wait in waits.change { $0.append(wait) } }
        var data: [String] = []
        for try await event in stream { data.append(event.data) }
        return (data, transport.asked.map { $0.headers["Last-Event-ID"] }, waits.value)
    }

    @Test("go on with the last id after the server's wait, until the status 204")
    func reconnected() async throws {
        let found = try await read([
            "id: 1\nretry: 500\ndata: a\n\n", "data: b\n\nid: 9\ndata: cut", nil, nil, "id\ndata: c\n\n",
        ])
        #expect(found.data == ["a", "b", "c"])
        #expect(found.ids == [nil, "1", "1", "1", "1", nil])
        #expect(found.waits == [.milliseconds(500), .milliseconds(500), .seconds(1), .seconds(2), .milliseconds(500)])
    }

    @Test("an error that reconnecting can't resolve ends the events", arguments: [404, 200])
    func failed(status: Int) async throws {
        let service = try HTTPService(
            ScriptedTransport(status: status, headers: ["Content-Type": "text/html"], "data: a\n\n"))
        var iterator = service.events(ServiceRequest(.get, "/feed")).makeAsyncIterator()
        await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }
}
