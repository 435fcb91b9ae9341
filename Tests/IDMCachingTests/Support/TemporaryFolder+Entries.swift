import Foundation
import IDMFiles
import TestSupport

@testable import IDMCaching

extension TemporaryFolder {
    /// The paths of all files in here whose names are those of entries, in order.
    var entries: [String] {
        files.filter { ($0 as NSString).lastPathComponent.count == 64 && !$0.contains("/damaged/") }
    }

    /// The paths of the files that are still being written.
    var unfinished: [String] { files.filter { $0.contains("/writing/") } }

    /// The paths of the files that were moved aside.
    var damaged: [String] { files.filter { $0.contains("/damaged/") } }

    /// The paths of the journals.
    var journals: [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return all.filter { $0.hasSuffix("/changes") }.map { path + "/" + $0 }
    }

    /// The paths of everything that isn't a folder, nor a journal.
    var files: [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return all.map { path + "/" + $0 }.filter { path in
            let isFolder = Self.status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            return !path.hasSuffix("/changes") && !isFolder || path.contains("/damaged/")
        }.sorted()
    }

    /// How long a file is. Zero if there is none.
    static func length(of path: String) -> Int { status(of: path).map { Int($0.st_size) } ?? 0 }

    /// What the system knows of what is at a path. Foundation would look up the names of its owner and its group as
    /// well, which takes longer than all the rest.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// The partition of everybody, as another process has it open.
    var elsewhere: DiskFolder {
        DiskFolder(
            parents: [path], path: path + "/shared", bounds: DiskBounds(), isPowerSafe: false, files: POSIXFiles(),
            process: 1)
    }

    func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The bytes of the only entry.
    func onlyEntry() throws -> (path: String, bytes: [UInt8]) {
        guard let path = entries.first, entries.count == 1 else { throw CocoaError(.fileNoSuchFile) }
        return (path, Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    }
}

extension DiskRecord {
    /// The record of a key of which nothing but the key counts.
    init(key: String) {
        let bytes = Array(key.utf8)
        self.init(digest: Digest(of: bytes), time: 0, era: 0, asked: 0, start: 0, key: bytes, tags: [])
    }
}
