public import Foundation

/// A body on its way, in pieces: read as fast as the reader asks, so that no more than a piece or two is ever in
/// memory.
///
/// ```swift
/// for try await piece in stream.bytes { try file.write(contentsOf: piece) }
/// ```
///
/// Pieces are never empty and come in any size. Nothing is read before the first one is awaited. The body of a response
/// can be read once, for it isn't kept: read again, it goes on where the first reader stopped. So its transfer isn't
/// stopped by whoever leaves off reading, but when the task that reads is cancelled, and when nobody holds the bytes
/// any more, nor an iterator of them.
public struct HTTPBytes: AsyncSequence, Sendable {
    /// One piece.
    public typealias Element = Data
    /// Whatever stopped the transfer.
    public typealias Failure = any Error

    private let open: @Sendable () -> any ByteCursor

    /// A body that is in memory. It can be read any number of times.
    public init(_ data: Data) {
        open = { DataCursor(rest: data) }
    }

    /// The body that a sequence gives, each time it is read.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        open = { SequenceCursor(pieces: pieces.makeAsyncIterator()) }
    }

    init(_ open: @escaping @Sendable () -> any ByteCursor) {
        self.open = open
    }

    /// Starts to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: open())
    }

    /// Reads one piece after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var cursor: any ByteCursor

        mutating func gather(_ least: Int) { cursor.gather(least) }

        /// The next piece, or nil after the last.
        public mutating func next() async throws -> Data? {
            try await next(isolation: #isolation)
        }

        /// The next piece, or nil after the last.
        public mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
            while let piece = try await cursor.next(isolation: isolation) {
                if !piece.isEmpty { return piece }
            }
            return nil
        }
    }
}

extension HTTPBytes {
    /// These bytes in pieces of so many at least, as far as they come at once: for whoever has to go far for each
    /// piece.
    func gathered(_ least: Int) -> HTTPBytes {
        HTTPBytes {
            var cursor = open()
            cursor.gather(least)
            return cursor
        }
    }
}

/// Where the pieces of a body come from.
protocol ByteCursor {
    /// From now on so many bytes at least are wanted at once, if they come at once. A wish, and no more.
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
