internal import Foundation

extension HTTPBytes {
    /// Why a body can't be read as lines or as events.
    public enum LineFault: Error, Sendable, Hashable, CustomStringConvertible {
        /// A line, or the data of an event, has too many bytes.
        case tooLong(limit: Int)

        public var description: String {
            switch self {
            case .tooLong(let limit): "A line, or an event, is longer than \(limit) bytes."
            }
        }
    }

    /// The body as lines of text, each as soon as it has arrived. They end with LF, CR or both, which aren't part of
    /// them. Bytes that aren't UTF-8 are replaced.
    ///
    /// - Parameter limit: The maximum number of bytes of a line. A longer one is thrown as a ``LineFault``.
    public func lines(limit: Int = 1 << 20) -> Elements<String> {
        Elements(bytes: self, splitter: LineSplitter(limit: limit))
    }

    /// The body as server-sent events, each as soon as it has arrived. An incomplete event at the end is left out, as
    /// the standard defines it.
    ///
    /// - Parameter limit: The maximum number of bytes of a line, and of an event's data. More are thrown as a
    ///   ``LineFault``.
    public func events(limit: Int = 1 << 20) -> Elements<ServerSentEvent> {
        Elements(bytes: self, splitter: EventSplitter(limit: limit))
    }

    /// The lines or the events of a body. No more than a piece and an element is in memory.
    public struct Elements<Element: Sendable>: AsyncSequence, Sendable {
        /// The error that ended the transfer, or a ``LineFault``.
        public typealias Failure = any Error

        fileprivate let bytes: HTTPBytes
        fileprivate let splitter: any ByteSplitter<Element>

        public func makeAsyncIterator() -> Iterator {
            Iterator(pieces: bytes.makeAsyncIterator(), splitter: splitter)
        }

        /// An iterator over the elements.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: HTTPBytes.Iterator
            private var splitter: any ByteSplitter<Element>
            private var ready: ArraySlice<Element> = []
            private var isOver = false

            fileprivate init(pieces: HTTPBytes.Iterator, splitter: any ByteSplitter<Element>) {
                self.pieces = pieces
                self.splitter = splitter
            }

            public mutating func next() async throws -> Element? {
                try await next(isolation: #isolation)
            }

            public mutating func next(isolation: isolated (any Actor)?) async throws -> Element? {
                while !isOver {
                    if let element = ready.popFirst() { return element }
                    do {
                        if let fault = splitter.fault { throw fault }
                        guard let piece = try await pieces.next(isolation: isolation) else {
                            isOver = true
                            return splitter.last()
                        }
                        ready = splitter.elements(in: piece)[...]
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

/// Makes elements of bytes that arrive in pieces.
protocol ByteSplitter<Element>: Sendable {
    associatedtype Element
    /// The reason why no more can be read. The elements before it are valid.
    var fault: HTTPBytes.LineFault? { get }
    /// Returns the elements that a piece completes.
    mutating func elements(in piece: Data) -> [Element]
    /// Returns the element that the end completes. Nil if there is none.
    mutating func last() -> Element?
}

/// Splits bytes into lines, which end with LF, CR or both.
struct LineSplitter: ByteSplitter {
    private let limit: Int
    private(set) var fault: HTTPBytes.LineFault?
    private var rest: [UInt8] = []
    private var endedWithCR = false
    private var isAtStart = true

    init(limit: Int) {
        self.limit = limit
    }

    mutating func elements(in piece: Data) -> [String] {
        var lines: [String] = []
        for byte in piece {
            defer { endedWithCR = byte == 13 }
            switch byte {
            // The second half of an end that has been seen.
            case 10 where endedWithCR: break
            case 10, 13: lines.append(take())
            default:
                guard rest.count < limit else {
                    fault = .tooLong(limit: limit)
                    return lines
                }
                rest.append(byte)
            }
        }
        return lines
    }

    mutating func last() -> String? {
        rest.isEmpty ? nil : take()
    }

    private mutating func take() -> String {
        // A byte order mark is no part of the text.
        let hasMark = isAtStart && rest.starts(with: [0xEF, 0xBB, 0xBF])
        let line = String(decoding: hasMark ? rest[3...] : rest[...], as: UTF8.self)
        isAtStart = false
        rest.removeAll(keepingCapacity: true)
        return line
    }
}

private struct EventSplitter: ByteSplitter {
    private var lines: LineSplitter
    private var parser: ServerSentEventParser
    private var ownFault: HTTPBytes.LineFault?

    init(limit: Int) {
        lines = LineSplitter(limit: limit)
        parser = ServerSentEventParser(limit: limit)
    }

    var fault: HTTPBytes.LineFault? { ownFault ?? lines.fault }

    mutating func elements(in piece: Data) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        do throws(HTTPBytes.LineFault) {
            for line in lines.elements(in: piece) {
                if let event = try parser.read(line) { events.append(event) }
            }
        } catch {
            ownFault = error
        }
        return events
    }

    mutating func last() -> ServerSentEvent? { nil }
}
