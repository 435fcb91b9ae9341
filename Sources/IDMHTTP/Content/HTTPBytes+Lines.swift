extension HTTPBytes {
    /// Why a body can't be read as lines or as events.
    public enum LineFault: Error, Sendable, Hashable, CustomStringConvertible {
        /// A line, or the data of an event, has more bytes than are taken.
        case tooLong(limit: Int)

        /// The fault in one sentence.
        public var description: String {
            switch self {
            case .tooLong(let limit): "A line, or an event, is longer than \(limit) bytes."
            }
        }
    }

    /// The body as lines of text, each as soon as it has come. They end with LF, CR or both, which aren't part of them;
    /// what isn't UTF-8 is replaced.
    ///
    /// No more than a piece and a line is ever in memory.
    ///
    /// - Parameter limit: The most bytes of a line. A longer one is thrown as a ``LineFault``.
    public func lines(limit: Int = 1 << 20) -> Lines {
        Lines(bytes: self, limit: limit)
    }

    /// The lines of a body.
    public struct Lines: AsyncSequence, Sendable {
        /// One line, without its end.
        public typealias Element = String
        /// The error that ended the transfer, or a ``LineFault``.
        public typealias Failure = any Error

        fileprivate let bytes: HTTPBytes
        fileprivate let limit: Int

        /// Starts to read.
        public func makeAsyncIterator() -> Iterator {
            Iterator(pieces: bytes.makeAsyncIterator(), splitter: LineSplitter(limit: limit))
        }

        /// An iterator over the lines.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var pieces: HTTPBytes.Iterator
            fileprivate var splitter: LineSplitter
            private var ready: ArraySlice<String> = []
            private var isOver = false

            fileprivate init(pieces: HTTPBytes.Iterator, splitter: LineSplitter) {
                self.pieces = pieces
                self.splitter = splitter
            }

            /// The next line, or nil after the last.
            public mutating func next() async throws -> String? {
                try await next(isolation: #isolation)
            }

            /// The next line, or nil after the last.
            public mutating func next(isolation: isolated (any Actor)?) async throws -> String? {
                while !isOver {
                    if let line = ready.popFirst() { return line }
                    do {
                        if let fault = splitter.fault { throw fault }
                        guard let piece = try await pieces.next(isolation: isolation) else {
                            isOver = true
                            return splitter.last()
                        }
                        ready = splitter.lines(in: piece)[...]
                    } catch {
                        isOver = true
                        throw error
                    }
                }
                return nil
            }
        }
    }
}
