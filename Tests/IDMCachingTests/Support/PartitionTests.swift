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

    func open(
        _ files: any FileLayer = POSIXFiles(), memory: Int? = 10, entries: Int? = nil, bytes: Int? = nil
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(bytes: bytes, entries: entries), memoryLimit: memory,
            durability: .process, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 })
    }
}
