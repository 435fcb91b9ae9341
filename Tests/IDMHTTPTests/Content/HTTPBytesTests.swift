import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A body in pieces", .timeLimit(.ample))
struct HTTPBytesTests {
    @Test("from memory is one piece, each time it is read")
    func memory() async throws {
        let bytes = HTTPBytes(Data("abc".utf8))

        for _ in 0..<2 {
            var pieces = bytes.makeAsyncIterator()
            #expect(try await pieces.next() == Data("abc".utf8))
            #expect(try await pieces.next() == nil)
            #expect(try await pieces.next() == nil)
        }
    }

    @Test("never has an empty piece")
    func emptyPieces() async throws {
        let stream = AsyncStream<Data> { continuation in
            for text in ["", "a", "", "", "b", ""] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        var pieces: [Data] = []
        for try await piece in HTTPBytes(stream) { pieces.append(piece) }

        #expect(pieces == [Data("a".utf8), Data("b".utf8)])
        #expect(try await HTTPBytes(Data()).all() == Data())
    }

    @Test("an error follows the pieces that arrived")
    func failure() async throws {
        struct Cut: Error {}
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish(throwing: Cut())
        }
        var pieces = HTTPBytes(stream).makeAsyncIterator()

        #expect(try await pieces.next() == Data("a".utf8))
        await #expect(throws: Cut.self) { try await pieces.next() }
    }
}
