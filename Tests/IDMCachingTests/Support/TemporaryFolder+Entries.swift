import Foundation
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
            let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            return !path.hasSuffix("/changes") && type != .typeDirectory || path.contains("/damaged/")
        }.sorted()
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
