public import Foundation

/// The bytes of a body, in pieces of any size. They are received at the pace of the reader, so that at most two pieces
/// are in memory.
///
/// The body of a response can be read once: a second reader continues where the first one stopped. The transfer ends
/// when the reading task is cancelled, and when the bytes and all their iterators are released. Leaving a loop doesn't
/// end it.
public struct HTTPBytes: AsyncSequence, Sendable {
    /// One piece.
    public typealias Element = Data
    /// The error that ended the transfer.
    public typealias Failure = any Error

    private let open: @Sendable () -> any ByteCursor

    /// A body in memory, which can be read any number of times.
    public init(_ data: Data) {
        open = { DataCursor(rest: data) }
    }

    /// A body that is read from a sequence each time.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        open = { SequenceCursor(pieces: pieces.makeAsyncIterator()) }
    }

    init(_ open: @escaping @Sendable () -> any ByteCursor) {
        self.open = open
    }

    public func makeAsyncIterator() -> Iterator { Iterator(cursor: open()) }

    /// An iterator over the pieces.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var cursor: any ByteCursor

        mutating func gather(_ least: Int) { cursor.gather(least) }

        public mutating func next() async throws -> Data? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
            while let piece = try await cursor.next(isolation: isolation) {
                if !piece.isEmpty { return piece }
            }
            return nil
        }
    }
}

extension HTTPBytes {
    /// Returns these bytes in pieces of at least `least` bytes, as far as those are available, for a reader with a high
    /// cost per piece.
    func gathered(_ least: Int) -> HTTPBytes {
        HTTPBytes {
            var cursor = open()
            cursor.gather(least)
            return cursor
        }
    }
}

/// A source of the pieces of a body.
protocol ByteCursor {
    /// Sets the number of bytes to return at once, if so many are available.
    mutating func gather(_ least: Int)

    /// The next piece, which may be empty, or nil after the last.
    mutating func next(isolation: isolated (any Actor)?) async throws -> Data?
}

extension ByteCursor {
    mutating func gather(_ least: Int) {}
}

private struct DataCursor: ByteCursor {
    var rest: Data?

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        defer { rest = nil }
        return rest
    }
}

private struct SequenceCursor<Pieces: AsyncIteratorProtocol>: ByteCursor where Pieces.Element == Data {
    var pieces: Pieces

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try await pieces.next(isolation: isolation)
    }
}

extension HTTPBytes {
    /// Calls a function with each piece, the end or an error before the reader gets it. An error that the function
    /// throws replaces it.
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
