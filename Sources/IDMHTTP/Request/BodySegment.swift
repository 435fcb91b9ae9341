internal import Foundation
internal import Synchronization

/// A part of a body: bytes in memory, or a file that is read when its turn comes.
enum BodySegment: Sendable {
    case data(Data)
    case file(URL, length: Int)

    var length: Int {
        switch self {
        case .data(let data): data.count
        case .file(_, let length): length
        }
    }

    /// The segment of a file as long as it is now.
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

/// Reads segments one behind the other, a piece at a time.
struct SegmentCursor: ByteCursor {
    static let pieceLength = 64 * 1024

    private var segments: ArraySlice<BodySegment>
    private var file: (reader: FileReader, rest: Int)?

    init(_ segments: [BodySegment]) {
        self.segments = segments[...]
    }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        while true {
            if let (reader, rest) = file {
                guard rest > 0 else {
                    file = nil
                    continue
                }
                let piece = try await reader.read(min(rest, Self.pieceLength))
                file = (reader, rest - piece.count)
                return piece
            }
            switch segments.popFirst() {
            case .data(let data): return data
            case .file(let url, let length): file = (FileReader(url: url, length: length), length)
            case nil: return nil
            }
        }
    }
}

/// Reads a file from its start, away from the caller's actor.
final class FileReader: Sendable {
    private let url: URL
    private let length: Int
    private let handle = Mutex<FileHandle?>(nil)

    init(url: URL, length: Int) {
        self.url = url
        self.length = length
    }

    /// The next bytes, at least one. A file that has got shorter is an error: what was announced can't be kept.
    @concurrent
    func read(_ count: Int) async throws -> Data {
        do {
            let data: Data? = try handle.withLock { handle in
                let open = try handle ?? FileHandle(forReadingFrom: url)
                handle = open
                return try open.read(upToCount: count)
            }
            if let data, !data.isEmpty { return data }
        } catch {
            throw RequestBody.Fault.file(url.lastPathComponent, reason: error.shortReason)
        }
        throw RequestBody.Fault.file(url.lastPathComponent, reason: "it has become shorter than \(length) bytes")
    }
}

extension Error {
    /// What went wrong, in a few words and without the paths that Foundation puts into its sentences.
    var shortReason: String {
        guard let error = self as? CocoaError else { return "\(self)".escapedForDescription() }
        return switch error.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "there is no permission to read it"
        case .fileReadUnsupportedScheme: "it isn't a file URL"
        case .fileReadUnknown: "it isn't a plain file that can be read"
        default: "Cocoa error \(error.code.rawValue)"
        }
    }
}
