extension HTTPBytes {
    /// The body as server-sent events, each as soon as it has come.
    ///
    /// An event that isn't complete at the end is left out, as the standard has it. No more than a piece, a line and an
    /// event is ever in memory.
    ///
    /// - Parameter limit: The most bytes of a line, and of an event's data. More are thrown as a ``LineFault``.
    public func events(limit: Int = 1 << 20) -> Events {
        Events(lines: lines(limit: limit), limit: limit)
    }

    /// The server-sent events of a body.
    public struct Events: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = ServerSentEvent
        /// The error that ended the transfer, or a ``LineFault``.
        public typealias Failure = any Error

        fileprivate let lines: Lines
        fileprivate let limit: Int

        /// Starts to read.
        public func makeAsyncIterator() -> Iterator {
            Iterator(lines: lines.makeAsyncIterator(), parser: ServerSentEventParser(limit: limit))
        }

        /// An iterator over the events.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var lines: Lines.Iterator
            fileprivate var parser: ServerSentEventParser

            /// The next event, or nil after the last.
            public mutating func next() async throws -> ServerSentEvent? {
                try await next(isolation: #isolation)
            }

            /// The next event, or nil after the last.
            public mutating func next(isolation: isolated (any Actor)?) async throws -> ServerSentEvent? {
                while let line = try await lines.next(isolation: isolation) {
                    if let event = try parser.read(line) { return event }
                }
                return nil
            }
        }
    }
}
