public import Foundation

extension RequestBody {
    /// A body as a transport sends it.
    public struct Encoded: Sendable {
        /// The number of bytes. Nil if it isn't known.
        public let length: Int?
        /// The bytes, if all of them are in memory. Nil for streams and files: see ``bytes()``.
        public let data: Data?
        /// True if ``bytes()`` can be called more than once.
        public var isReplayable: Bool { passage == nil }

        let file: URL?
        let files: [URL]

        private var source: HTTPBytes
        private let passage: Passage?

        /// A body that is in memory.
        public init(_ data: Data) {
            self.data = data
            length = data.count
            file = nil
            files = []
            source = HTTPBytes { SegmentCursor([.data(data)]) }
            passage = nil
        }

        init(_ segments: [BodySegment]) {
            length = segments.reduce(0) { $0 + $1.length }
            files = segments.compactMap { if case .file(let url, _) = $0 { url } else { nil } }
            data = files.isEmpty ? segments.compactMap(\.data).reduce(into: Data(), +=) : nil
            file = segments.count == 1 ? files.first : nil
            source = HTTPBytes { SegmentCursor(segments) }
            passage = nil
        }

        init(_ bytes: HTTPBytes, length: Int?, passage: Passage?) {
            self.length = length
            data = nil
            file = nil
            files = []
            source = length.map { length in HTTPBytes { CountedCursor(bytes.makeAsyncIterator(), length) } } ?? bytes
            self.passage = passage
        }

        /// Returns the bytes from the start, at the reader's pace. If ``length`` is known, any other number of bytes is
        /// thrown as a ``RequestBody/Fault``. Throws if they can be read only once, and have been.
        public func bytes() throws(Fault) -> HTTPBytes {
            try passage?.take()
            return source
        }

        /// Returns this body with ``bytes()`` passed through a transformation. ``data`` stays as it is.
        func led(through way: (HTTPBytes) -> HTTPBytes) -> Encoded {
            var led = self
            led.source = way(source)
            return led
        }
    }

    func encoded() throws(Fault) -> Encoded {
        guard contentType.utf8.allSatisfy({ (32...126).contains($0) }) else { throw .contentType }
        switch kind {
        case .encoder(let encode):
            do {
                return Encoded(try encode())
            } catch {
                throw Fault(of: error)
            }
        case .bytes(let data): return Encoded(data)
        case .form(let fields): return Encoded(Data(fields.encodedForForm().utf8))
        case .file(let url): return Encoded([try .file(url)])
        case .multipart(let body): return Encoded(try body.segments())
        case .stream(let bytes, let length, let passage): return Encoded(bytes, length: length, passage: passage)
        }
    }
}

extension RequestBody.Fault {
    /// The fault of an encoder, without the value, which may be secret.
    fileprivate init(of error: any Error) {
        switch error {
        case let error as RequestBody.Fault:
            self = error
        case EncodingError.invalidValue(_, let context):
            self = .encoding(
                path: context.codingPath.dotted, reason: context.debugDescription.escapedForDescription())
        default:
            self = .encoding(path: "", reason: "\(type(of: error))")
        }
    }
}

extension [any CodingKey] {
    /// The path as a key path is written: `items.3.name`.
    var dotted: String {
        map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}

/// Holds a stream to the length that was announced.
private struct CountedCursor: ByteCursor {
    private var pieces: HTTPBytes.Iterator
    private let length: Int
    private var found = 0

    init(_ pieces: HTTPBytes.Iterator, _ length: Int) {
        self.pieces = pieces
        self.length = length
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        let piece = try await pieces.next(isolation: isolation)
        found += piece?.count ?? 0
        // Too many are refused before they are handed on, too few at the end.
        guard piece == nil ? found == length : found <= length else {
            throw RequestBody.Fault.length(announced: length, found: found)
        }
        return piece
    }
}
