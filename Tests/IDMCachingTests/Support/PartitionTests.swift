import Foundation
import IDMFiles
import TestSupport

@testable import IDMCaching

/// A partition in a folder of its own, and what the caches that share it tell.
struct Partition {
    let folder: TemporaryFolder
    let outcomes = Outcomes()

    init() throws {
        folder = try TemporaryFolder()
    }
}

/// Tests of caches that share a partition, and know no more of one another than those of two processes do.
protocol PartitionTests {
    var partition: Partition { get }
}

extension PartitionTests {
    var folder: TemporaryFolder { partition.folder }
    var outcomes: Outcomes { partition.outcomes }
    /// Where the journal is.
    var journal: String { folder.path + "/shared/changes" }

    func open(
        _ files: any FileLayer = POSIXFiles(), memory: Int? = 10, entries: Int? = nil, bytes: Int? = nil
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(bytes: bytes, entries: entries), memoryLimit: memory,
            durability: .process, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 })
    }
    /// Adds to the journal what another process has told.
    func tell(_ bytes: [UInt8]) throws {
        let journal = try FileHandle(forUpdating: URL(fileURLWithPath: journal))
        try journal.seekToEnd()
        try journal.write(contentsOf: Data(bytes))
        try journal.close()
    }

    /// What stands in the journal.
    func told() throws -> [DiskChange] {
        DiskChange.all(in: Array(try Data(contentsOf: URL(fileURLWithPath: journal))))
    }
}
