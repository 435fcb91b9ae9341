import Foundation
import IDMCaching

/// A cache on disk, compared with bare system calls. Each side works on a dedicated thread, and hops once.
enum Disks {
    static let rows: [Benchmark] = [
        .time("disk read, 4 KB", reads, against: bareReads, limit: .times(1.5)),
        .time("disk write, 4 KB", writes, against: bareWrites, limit: .times(1.5)),
        .figure(
            "opening a cache of 100,000 entries", in: .time, { try await opening() },
            against: "opening the first file", { try await bareOpening() }, limit: .figure(20_000_000)),
    ]

    /// About 4 KB of JSON.
    private static func value(_ key: Int) -> [Int] { Array(repeating: 100_000 + key, count: 580) }

    private static let count = 64

    /// The checksum of a number of reads of all values in turn.
    private static func proof(_ operations: Int) -> Int {
        let (rounds, rest) = operations.quotientAndRemainder(dividingBy: count)
        return operations * 100_000 + rounds * sum(of: count) + sum(of: rest)
    }

    /// Both kinds of cache, with the same values in separate folders.
    private struct Fixture {
        let scratch: Scratch
        let cache: DiskCache<String, [Int]>
        let files: BareFiles

        init(entries: Int) async throws {
            scratch = try Scratch()
            cache = try DiskCache(folder: scratch.url.appendingPathComponent("cache"), byteLimit: 1 << 40)
            files = BareFiles(folder: scratch.url.path)
            for key in 0..<entries {
                try await cache.set(value(key), for: "\(key)")
                guard await files.write(value(key), "\(key)") else { throw Fault("a file could not be written") }
            }
        }
    }

    private static let fixture = Task { try await Fixture(entries: count) }

    private static let reads = Side("DiskCache", proof: proof) { operations in
        let cache = try await fixture.value.cache
        var total = 0
        for operation in 0..<operations { total += await cache.get("\(operation % count)")?.value.first ?? .min }
        return total
    }

    private static let bareReads = Side("open, read, close, decode", proof: proof) { operations in
        let files = try await fixture.value.files
        var total = 0
        for operation in 0..<operations { total += await files.read("\(operation % count)")?.first ?? .min }
        return total
    }

    private static let writes = Side("DiskCache", proof: { $0 }) { operations in
        let cache = try await fixture.value.cache
        for operation in 0..<operations {
            let key = operation % count
            try await cache.set(value(key), for: "\(key)")
        }
        return operations
    }

    private static let bareWrites = Side("encode, write, rename", proof: { $0 }) { operations in
        let files = try await fixture.value.files
        var written = 0
        for operation in 0..<operations {
            let key = operation % count
            written += await files.write(value(key), "\(key)") ? 1 : 0
        }
        return written
    }

    /// A few entries among 100,000. The rest are hard links to them, which are faster to create.
    private static let crowd = Task {
        let fixture = try await Fixture(entries: 4)
        let partition = fixture.scratch.url.path + "/cache/shared"
        let names = try FileManager.default.contentsOfDirectory(atPath: partition).filter { $0.utf8.count == 64 }
        for (index, name) in names.enumerated() {
            for number in 0..<25_000 {
                let other = String(repeating: "\(index)", count: 56) + String(10_000_000 + number)
                guard link(partition + "/" + name, partition + "/" + other) == 0 else {
                    throw Fault("an entry could not be made")
                }
            }
        }
        return fixture
    }

    /// The time to open a cache with many entries and read the first one, in nanoseconds.
    private static func opening() async throws -> Int? {
        let folder = try await crowd.value.scratch.url.appendingPathComponent("cache")
        return try await timed {
            let cache = try DiskCache<String, [Int]>(folder: folder, byteLimit: 1 << 40)
            return await cache.get("0")?.value
        }
    }

    private static func bareOpening() async throws -> Int? {
        let path = try await crowd.value.scratch.url.path
        return try await timed { await BareFiles(folder: path).read("0") }
    }

    private static func timed(_ work: () async throws -> [Int]?) async throws -> Int {
        let start = ContinuousClock.now
        guard try await work() == value(0) else { throw Fault("an entry could not be read") }
        return Int(start.duration(to: .now) / .nanoseconds(1))
    }
}
