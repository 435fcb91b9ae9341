public import Foundation
internal import IDMFiles

extension RequestBody {
    /// A body that is ready to travel. Made from a ``RequestBody``, for a transport.
    public struct Encoded: Sendable {
        /// The number of bytes. Nil if it isn't known before the end.
        public let length: Int?
        /// The bytes, if all of them are in memory. Nil if a stream or a file is among them, which is no empty body:
        /// ``bytes()`` reads those as well.
        public let data: Data?
        /// True if ``bytes()`` can be called more than once. Only a stream that doesn't declare it can't.
        public var isReplayable: Bool { passage == nil }

        /// The file, if the body is one and nothing else.
        let file: URL?
        /// The files that are part of the body.
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

        /// The bytes from the start, fetched in the pace in which they are read, 64 KB at a time unless they are a
        /// stream's. Exactly ``length`` of them, if that is known: anything else is thrown as a ``RequestBody/Fault``
        /// while they are read. Throws if they can be read once only, and have been.
        public func bytes() throws(Fault) -> HTTPBytes {
            try passage?.take()
            return source
        }

        /// Returns this body with its bytes passed through a transformation, for readers of ``bytes()``. ``data`` stays
        /// as it is.
        func led(through way: (HTTPBytes) -> HTTPBytes) -> Encoded {
            var led = self
            led.source = way(source)
            return led
        }
    }

    /// Makes the body. Files are looked at, but not read.
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
    /// The fault of an encoder. What it was to encode may be secret, and is left out.
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
