import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// Child processes read, write, evict, invalidate, remove and wipe the same partition at the same time, and each checks
/// what it finds against what all of them have said to be done.
@Suite("Processes that share a partition", .fewAtOnce, .timeLimit(.ample))
struct SharedProcessTests {
    static let keys = 16
    static let entryLimit = 12

    /// A value that says when it was asked for, and of which every part can be told from that of others.
    struct Value: Codable, Sendable {
        let key: Int
        let asked: Int64
        let filling: [Int64]

        init(_ key: Int, _ asked: Int64) {
            self.key = key
            self.asked = asked
            filling = Array(repeating: asked, count: 20 + Int(asked % 500))
        }

        func isWhole(for key: Int) -> Bool {
            self.key == key && filling.count == 20 + Int(asked % 500) && filling.allSatisfy { $0 == asked }
        }
    }

    @Test(
        "Nobody finds what is torn, or older than what anybody has heard, written or removed before", arguments: [2, 3])
    func together(count: Int) async throws {
        let folder = try TemporaryFolder()
        // A partition of which nobody has written anything has no place where a removal could be told.
        try await DiskCache<Int, Value>(folder: folder.url).set(Value(0, 0), for: 0)
        for round in 0..<Volume.of(10, normally: 1) {
            let seed = round * 100 + count
            await withTaskGroup { group in
                for number in 0..<count {
                    group.addTask {
                        let (path, parent) = (folder.path, getpid())
                        await #expect(processExitsWith: .success) {
                            [
                                path = path as String, number = number as Int, count = count as Int, seed = seed as Int,
                                parent = parent as Int32
                            ] in
                            var worker = try Worker(path, number: number, of: count, seed: seed)
                            try await worker.work(for: parent)
                        }
                    }
                }
            }
            #expect(folder.entries.count <= Self.entryLimit)
            #expect(folder.unfinished == [] && folder.damaged == [])
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("floor") {
                try FileManager.default.removeItem(atPath: folder.path + "/" + name)
            }
        }
    }

    /// One of the processes.
    private struct Worker {
        let cache: DiskCache<Int, Value>
        let board: Board
        let outcomes = Outcomes()
        var random: SplitMix

        init(_ path: String, number: Int, of count: Int, seed: Int) throws {
            cache = try DiskCache(
                folder: URL(fileURLWithPath: path), entryLimit: SharedProcessTests.entryLimit, memoryLimit: 8,
                onOutcome: outcomes.hook())
            board = try Board(path, number: number, of: count)
            random = SplitMix(seed: UInt64(seed * 10 + number))
        }

        mutating func work(for parent: Int32) async throws {
            // Until all are there, so that they are at it at the same time. Once the tests are gone nobody else comes.
            while !board.isComplete {
                try #require(getppid() == parent)
                await look(0)
            }
            var found = 0
            for _ in 0..<Volume.of(1_500, normally: 400) {
                let key = Int.random(in: 0..<SharedProcessTests.keys, using: &random)
                switch Int.random(in: 0..<100, using: &random) {
                case 0: try await remove(0..<SharedProcessTests.keys) { try await $0.wipe() }
                case 1: try await remove([1, 4, 7, 10, 13]) { try await $0.invalidate(tag: "tag") }
                case 2..<6: try await remove([key]) { try await $0.invalidate(key) }
                case 6..<40: try await write(key)
                default: found += await look(key) ? 1 : 0
                }
            }
            #expect(found > 20)
            #expect(outcomes.count("failed") == 0 && outcomes.count("damaged") == 0)
            #expect(cache.ledger.isEmpty)
        }

        @discardableResult
        private func look(_ key: Int) async -> Bool {
            let floor = board.floor(key)
            guard let found = await cache.get(key)?.value else { return false }
            #expect(found.isWhole(for: key))
            #expect(found.asked >= floor)
            board.raise(key, found.asked)
            return true
        }

        private mutating func write(_ key: Int) async throws {
            let permit = cache.ledger.permit(for: key)
            // The provider takes its time.
            for _ in 0..<Int.random(in: 0..<6, using: &random) { await look(key) }
            let entry = cache.ledger.entry(Value(key, permit.number), tags: key % 3 == 1 ? ["tag"] : [])
            try await cache.set(entry, for: key, permit: permit)
            // One that is dropped may be so for a removal that is still at work.
            if case .written = permit.outcome { board.raise(key, permit.number) }
        }

        private func remove(
            _ keys: some Sequence<Int>, _ body: (DiskCache<Int, Value>) async throws -> Void
        ) async throws {
            let time = MachineTime.now
            try await body(cache)
            for key in keys { board.raise(key, time) }
        }
    }

    /// What was heard, written or removed last of each key, by any process: nothing older is found from then on.
    private struct Board {
        private let files: [Int32]
        private let own: Int

        init(_ path: String, number: Int, of count: Int) throws {
            files = (0..<count).map { open("\(path)/floor-\($0)", O_RDWR | O_CREAT, 0o600) }
            own = number
            raise(SharedProcessTests.keys, 1)
        }

        var isComplete: Bool { files.indices.allSatisfy { read($0, SharedProcessTests.keys) == 1 } }

        func floor(_ key: Int) -> Int64 { files.indices.map { read($0, key) }.max() ?? 0 }

        func raise(_ key: Int, _ time: Int64) {
            var time = max(time, read(own, key))
            #expect(pwrite(files[own], &time, 8, off_t(8 * key)) == 8)
        }

        private func read(_ file: Int, _ key: Int) -> Int64 {
            var time: Int64 = 0
            return pread(files[file], &time, 8, off_t(8 * key)) == 8 ? time : 0
        }
    }
}
