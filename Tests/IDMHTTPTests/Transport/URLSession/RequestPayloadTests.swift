import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The body of a request before it leaves", .fewAtOnce, .timeLimit(.ample))
struct RequestPayloadTests {
    @Test("a cancelled payload isn't written to its end")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let pieces = Pieces()
        let task = Task {
            _ = try await RequestPayload(
                RequestBody.Encoded(HTTPBytes(pieces), length: nil, passage: nil), folder: folder.url
            ) {}
        }
        try await pieces.log.contains("2")
        task.cancel()
        pieces.goesOn.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pieces.log.entries == ["1", "2"])
        #expect(try folder.names().isEmpty)
    }

    @Test("a stream becomes a file until its payload is removed")
    func temporary() async throws {
        let folder = try TemporaryFolder()
        let body = RequestBody.Encoded(HTTPBytes(Data("film".utf8)), length: nil, passage: nil)
        let payload = try await RequestPayload(body, folder: folder.url) {}
        guard case .temporary(let file, length: 4) = payload else {
            Issue.record("\(payload)")
            return
        }
        #expect(try Data(contentsOf: file.url) == Data("film".utf8))
        payload.remove()
        #expect(try folder.names().isEmpty)
    }

    @Test("a payload is written off the cooperative pool")
    func fileThread() async throws {
        let folder = try TemporaryFolder()
        let (none, turns) = (folder.url.appendingPathComponent("none"), Turns())
        let body = RequestBody.Encoded(HTTPBytes(Data("film".utf8)), length: nil, passage: nil)
        let task = Task(executorPreference: turns) { _ = try await RequestPayload(body, folder: none) {} }
        try await turns.next()
        // A second turn is due once there was no folder to make a file in: for nobody who had the first one.
        try await turns.next()
        let fault = await #expect(throws: TransportFault.self) { try await task.value }
        #expect(fault?.kind == .notPutAside(code: ENOENT))
    }

    /// Pieces without an end, which know nothing of cancellation.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let log = Log()
        let goesOn = Signal()
        var count = 0

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async throws -> Data? {
            count += 1
            log.add("\(count)")
            if count == 2 { await goesOn.waitIgnoringCancel() }
            return Data("x".utf8)
        }
    }
}
