internal import Foundation

/// A part of a body: bytes in memory, or a file that is read when its turn comes.
enum BodySegment: Sendable {
    case data(Data)
    case file(URL, length: Int)

    var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }

    var length: Int {
        switch self {
        case .data(let data): data.count
        case .file(_, let length): length
        }
    }

    static func file(_ url: URL) throws(RequestBody.Fault) -> BodySegment {
        let path = url.resolvingSymlinksInPath().path
        do {
            guard url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            // Whatever isn't a plain file has no length, and opening it may wait for ever.
            guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? NSNumber
            else {
                throw CocoaError(.fileReadUnknown)
            }
            return .file(URL(fileURLWithPath: path), length: size.intValue)
        } catch {
            throw .file(url.lastPathComponent, reason: error.shortReason)
        }
    }
}

/// Reads segments in their order, one piece at a time. Data in memory is split as well, so that the sender can report
/// its progress and stop.
struct SegmentCursor: ByteCursor {
    private enum Source {
        case data(Data)
        case file(FileReader, rest: Int)
    }

    static let pieceLength = 64 * 1024

    private var segments: ArraySlice<BodySegment>
    private var source: Source?

    init(_ segments: [BodySegment]) {
        self.segments = segments[...]
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        while true {
            switch source {
            case .data(let rest) where !rest.isEmpty:
                source = .data(rest.dropFirst(Self.pieceLength))
                // Not as a slice: readers may take the first byte for number 0.
                return Data(rest.prefix(Self.pieceLength))
            case .file(let reader, let rest) where rest > 0:
                let piece = try await reader.read(min(rest, Self.pieceLength))
                source = .file(reader, rest: rest - piece.count)
                return piece
            case .data, .file, nil:
                switch segments.popFirst() {
                case .data(let data): source = .data(data)
                case .file(let url, let length): source = .file(FileReader(url: url, length: length), rest: length)
                case nil: return nil
                }
            }
        }
    }
}

/// Reads a file from its start, on a thread that may wait for a disk.
actor FileReader {
    private nonisolated let thread = FileThread("IDMHTTP.body")
    private let url: URL
    private let length: Int
    private var rest: Int
    private var handle: FileHandle?

    init(url: URL, length: Int) {
        self.url = url
        self.length = length
        rest = length
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Returns the next bytes, at least one. A file that has become shorter or longer is an error, before its last bytes
    /// are returned.
    func read(_ count: Int) throws(RequestBody.Fault) -> Data {
        guard let data = try next(min(count, rest)), !data.isEmpty else {
            throw .file(url.lastPathComponent, reason: "it has become shorter than \(length) bytes")
        }
        rest -= data.count
        if rest == 0, try next(1)?.isEmpty == false {
            throw .file(url.lastPathComponent, reason: "it has become longer than \(length) bytes")
        }
        return data
    }

    private func next(_ count: Int) throws(RequestBody.Fault) -> Data? {
        do {
            let open = try handle ?? FileHandle(forReadingFrom: url)
            handle = open
            return try open.read(upToCount: count)
        } catch {
            throw .file(url.lastPathComponent, reason: error.shortReason)
        }
    }
}
