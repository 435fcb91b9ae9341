import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMCaching

/// An entry that is longer than all of a cache may be.
@Suite("An entry longer than the limit", .fewAtOnce, .timeLimit(.ample))
struct LongEntryTests: PartitionTests {
    let partition: Partition
    private let long = String(repeating: "v", count: 2_000)

    init() throws {
        partition = try Partition()
    }

    private func isRefusal(_ error: (any Error)?) -> Bool {
        guard case .longerThanLimit(let length, limit: 1_000) = error as? DiskCacheError else { return false }
        return length > 2_000
    }

    @Test("is refused and takes with it what its key had, and nothing else, as in memory", arguments: [nil, 10])
    func refused(memoryLimit: Int?) async throws {
        let cache = try open(memory: memoryLimit, bytes: 1_000)
        let memory = MemoryCache<String, String>(costLimit: 1_000) { $0.utf8.count }
        for key in ["a", "key", "b"] {
            try await cache.set("short", for: key)
            memory.set("short", for: key)
        }
        let late = cache.ledger.permit(for: "key")

        memory.set(long, for: "key")
        #expect(isRefusal(await #expect(throws: DiskCacheError.self) { try await cache.set(long, for: "key") }))

        for key in ["a", "key", "b"] {
            #expect(await cache.get(key)?.value == memory.get(key)?.value)
            #expect((memory.get(key) == nil) == (key == "key"))
        }
        // Older than what was delivered.
        try await cache.set(cache.ledger.entry("late"), for: "key", permit: late)
        #expect(await cache.get("key") == nil)
        #expect(outcomes.count("evicted") == 0 && outcomes.count("failed key") == 1)
        #expect(folder.unfinished.isEmpty)
        // It goes on.
        try await cache.set("short", for: "key")
        #expect(await cache.get("key")?.value == "short")
    }

    @Test("is refused where nothing has been written yet, and makes no folder")
    func first() async throws {
        let cache = try open(bytes: 1_000)
        #expect(isRefusal(await #expect(throws: DiskCacheError.self) { try await cache.set(long, for: "key") }))
        #expect(try folder.names() == [])
    }

    @Test("is delivered by a cached provider all the same, and the store keeps nothing older")
    func cached() async throws {
        let (cache, other) = (try open(bytes: 1_000), try open())
        for key in ["a", "key"] { try await cache.set("short", for: key) }
        #expect(await other.get("key")?.value == "short")
        let provider = ValueDataProvider<String, String>(long).cached(in: cache, policy: .remoteOnly)
        #expect(try await provider.request("key") == long)
        for cache in [cache, other] {
            #expect(await cache.get("key") == nil)
            #expect(await cache.get("a")?.value == "short")
        }
    }

    @Test("doesn't take the place of a newer one, nor of what was removed since")
    func superseded() async throws {
        let cache = try open(bytes: 1_000)
        let permit = cache.ledger.permit(for: "key")
        try await cache.set("newer", for: "key")
        await #expect(throws: DiskCacheError.self) {
            try await cache.set(cache.ledger.entry(long), for: "key", permit: permit)
        }
        #expect(await cache.get("key")?.value == "newer")
    }

    @Test("that a cache with a greater limit has written goes first, and nothing else")
    func ofAnother() async throws {
        let greater = try open(memory: nil)
        // Together with the last one as long as the limit, nearly.
        for key in ["a", "b", "c", "d", "e", "f", "g"] { try await greater.set("short", for: key) }
        try await greater.set(long, for: "long")
        let cache = try open(bytes: 1_000)
        try await cache.set(String(repeating: "v", count: 140), for: "h")
        for key in ["a", "b", "c", "d", "e", "f", "g", "h"] { #expect(await cache.get(key) != nil, "\(key)") }
        #expect(await cache.get("long") == nil)
        #expect(outcomes.count("evicted 1 bounds") == 1)
    }
}
