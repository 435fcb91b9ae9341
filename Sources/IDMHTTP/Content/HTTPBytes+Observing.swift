internal import Foundation

extension HTTPBytes {
    /// These bytes, with a look at each piece, at the end and at what stops them, before the reader gets it. What the
    /// look throws is what the reader gets instead.
    func observed(_ look: @escaping @Sendable (Result<Data?, any Error>) throws -> Void) -> HTTPBytes {
        HTTPBytes { ObservedCursor(pieces: makeAsyncIterator(), look: look) }
    }
}

private struct ObservedCursor: ByteCursor {
    var pieces: HTTPBytes.Iterator
    let look: @Sendable (Result<Data?, any Error>) throws -> Void

    mutating func gather(_ least: Int) { pieces.gather(least) }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        let result: Result<Data?, any Error>
        do {
            result = .success(try await pieces.next(isolation: isolation))
        } catch {
            result = .failure(error)
        }
        try look(result)
        return try result.get()
    }
}
