import TestSupport
import IDMTesting
import Foundation
import Testing

@testable import IDMCaching

/// A child process writes and is killed in the middle of it, again and again.
@Suite("A writer that is killed", .timeLimit(.minutes(10)), .serialized)
struct KilledWriterTests {
    static let keys = 4

    /// A value of which every byte can be told from those of others.
    struct Value: Codable, Equatable, Sendable {
        let version: Int
        let filling: [Int]

        init(_ version: Int) {
            self.version = version
            filling = Array(repeating: version, count: 50 + version % 2_000)
        }

        var isWhole: Bool { self == Value(version) }
    }

    @Test(
        "After each kill every entry is the whole old value or the whole new one",
        arguments: [CacheDurability.process, .power])
    func killed(durability: CacheDurability) async throws {
        let folder = try TemporaryFolder()
        let outcomes = Outcomes()
        var random = SplitMix(seed: 11)
        var least = Array(repeating: 0, count: Self.keys)
        var progress = 0
        for round in 0..<Volume.of(300, normally: 25) {
            let (path, isPower) = (folder.path, durability == .power)
            let delay = Int.random(in: 200...30_000, using: &random)
            await #expect(processExitsWith: .signal(SIGALRM)) {
                [path = path as String, isPower = isPower as Bool, delay = delay as Int] in
                try await KilledWriterTests.write(in: path, isPower, until: delay)
            }
            // Another process, as far as the files go.
            let cache = try DiskCache<Int, Value>(folder: folder.url, onOutcome: outcomes.hook())
            for key in 0..<Self.keys {
                guard let found = await cache.get(key) else {
                    #expect(least[key] == 0, "round \(round): an entry is lost")
                    continue
                }
                #expect(found.value.isWhole, "round \(round)")
                #expect(found.value.version >= least[key], "round \(round): an older value is back")
                progress += found.value.version > least[key] ? 1 : 0
                least[key] = found.value.version
            }
            // The next writer sweeps up what the last one has left.
            try await DiskCache<Int, Value>(folder: folder.url).set(Value(0), for: -1)
            #expect(folder.unfinished == [], "round \(round)")
        }
        #expect(outcomes.count("damaged") == 0 && outcomes.count("failed") == 0)
        #expect(progress > 0)
    }

    /// Runs in the child: writes until the alarm goes off, whose default is to end the process on the spot.
    private static func write(in path: String, _ isPower: Bool, until delay: Int) async throws {
        let cache = try DiskCache<Int, Value>(
            folder: URL(fileURLWithPath: path), entryLimit: 100, durability: isPower ? .power : .process)
        var last = 0
        for key in 0..<keys { last = max(last, await cache.get(key)?.value.version ?? 0) }
        _ = ualarm(.init(delay), 0)
        while true {
            let first = last
            try await withThrowingTaskGroup { group in
                for key in 0..<keys { group.addTask { try await cache.set(Value(first + 1 + key), for: key) } }
                try await group.waitForAll()
            }
            last += keys
        }
    }
}
