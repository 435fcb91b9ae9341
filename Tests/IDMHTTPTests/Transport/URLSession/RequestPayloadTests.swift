import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The body of a request before it leaves", .timeLimit(.ample))
struct RequestPayloadTests {
    @Test("isn't put aside to its end if nobody wants it any more")
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

    /// Pieces without an end, which know nothing of cancellation.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let log = Log()
        let goesOn = Signal()
        var count = 0

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async throws -> Data? {
            count += 1
            log.add("\(count)")
            if count == 2 { await goesOn.waitDeaf() }
            return Data("x".utf8)
        }
    }
}
