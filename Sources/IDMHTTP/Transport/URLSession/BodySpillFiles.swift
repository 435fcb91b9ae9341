internal import Foundation

/// Bytes that are put aside on disk and fetched in the same order. The files have no name, so that nothing of them is
/// left behind, whatever happens. Used by one thread at a time.
struct BodySpillFiles: ~Copyable, Sendable {
    private struct File {
        let handle: FileHandle
        let capacity: Int
        var written = 0
        var read = 0
    }

    private let folder: URL
    private let capacity: Int
    private var files: [File] = []
    private var length = 0

    /// - Parameter capacity: How many bytes go into the first file. It goes away when all of it has been fetched; later
    ///   ones take as much as there is by then, so that there are few of them.
    init(folder: URL = FileManager.default.temporaryDirectory, capacity: Int = 16 << 20) {
        self.folder = folder
        self.capacity = capacity
    }

    /// The number of files.
    var fileCount: Int { files.count }

    /// Puts bytes behind those that are there.
    mutating func append(_ data: Data) throws {
        if files.last.map({ $0.written >= $0.capacity }) ?? true {
            files.append(File(handle: try .unnamed(in: folder), capacity: max(capacity, length)))
        }
        let last = files.count - 1
        try files[last].handle.seek(toOffset: UInt64(files[last].written))
        try files[last].handle.write(contentsOf: data)
        files[last].written += data.count
        length += data.count
    }

    /// Fetches so many of the bytes that are there. Throws if there are fewer.
    mutating func fetch(_ count: Int) throws -> Data {
        var result = Data()
        while result.count < count, let first = files.first {
            try first.handle.seek(toOffset: UInt64(first.read))
            let piece =
                try first.handle.read(upToCount: min(count - result.count, first.written - first.read)) ?? Data()
            guard !piece.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
            result += piece
            length -= piece.count
            files[0].read += piece.count
            if files[0].read == files[0].written { reuse() }
        }
        guard result.count == count else { throw CocoaError(.fileReadCorruptFile) }
        return result
    }

    /// The first file has been fetched to its end.
    private mutating func reuse() {
        guard files.count == 1 else {
            files.removeFirst()
            return
        }
        files[0].read = 0
        files[0].written = 0
    }
}

extension FileHandle {
    /// Opens a file without a name for reading and writing, which no other process can open.
    static func unnamed(in folder: URL) throws -> FileHandle {
        let file = try TemporaryFile(in: folder)
        file.unname()
        return file.handle
    }
}
