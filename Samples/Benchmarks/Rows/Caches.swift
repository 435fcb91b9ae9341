import IDMCaching
import IDMCore
import Synchronization

/// A cache in memory, alone and in front of a provider.
enum Caches {
    static let rows: [Benchmark] = [
        .time("memory hit", hits, against: lookups, limit: .times(2)),
        .time(
            "memory hit, all cores at once", contendedHits, against: contendedLookups, limit: .times(1.25), by: .median,
            operations: 20_000),
        .time("request, memory hit", requests, against: lookups, limit: .figure(1_000)),
        .time("request of an integrator, memory hit", integrated, against: requests, limit: .times(12)),
        .time("10,000 requests for one key", ofAll: 10_000, shared, against: sharedTask, limit: .times(4)),
    ]

    private static let keys = (0..<1_024).map { "https://example.com/users/\($0)" }

    private static let memory: MemoryCache<String, Int> = {
        let cache = MemoryCache<String, Int>(countLimit: 10_000)
        for (index, key) in keys.enumerated() { cache.set(index, for: key) }
        return cache
    }()

    private static let dictionary: LockedDictionary<String, Int> = {
        let dictionary = LockedDictionary<String, Int>()
        for (index, key) in keys.enumerated() { dictionary[key] = index }
        return dictionary
    }()

    /// The checksum of a number of look-ups of all keys in turn.
    private static func proof(_ operations: Int) -> Int {
        let (rounds, rest) = operations.quotientAndRemainder(dividingBy: keys.count)
        return rounds * sum(of: keys.count) + sum(of: rest)
    }

    private static let hits = Side("MemoryCache", proof: proof) { readMemory($0) }
    private static let lookups = Side("Mutex<Dictionary>", proof: proof) { readDictionary($0) }
    private static let contendedHits = Side.onAllCores("MemoryCache", proof: proof, readMemory)
    private static let contendedLookups = Side.onAllCores("Mutex<Dictionary>", proof: proof, readDictionary)

    @Sendable
    private static func readMemory(_ operations: Int) -> Int {
        let (keys, memory) = (keys, memory)
        var total = 0
        for operation in 0..<operations { total += memory.get(keys[operation & 1_023])?.value ?? .min }
        return total
    }

    @Sendable
    private static func readDictionary(_ operations: Int) -> Int {
        let (keys, dictionary) = (keys, dictionary)
        var total = 0
        for operation in 0..<operations { total += dictionary[keys[operation & 1_023]] ?? .min }
        return total
    }

    /// A provider that is never requested: every value is in the cache.
    private struct Unasked: DataProvider {
        func request(_ key: String) async throws -> Int { throw Fault("\(key) was asked for") }
    }

    private static let requests = Side("cached request", proof: proof) { operations in
        let provider = Unasked().cached(in: memory, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        let keys = keys
        var total = 0
        for operation in 0..<operations { total += try await provider.request(keys[operation & 1_023]) }
        return total
    }

    private static let integrated = Side("integrator", proof: proof) { operations in
        let provider = Unasked().cached(in: memory, policy: .cacheElseRemote(maxAge: .seconds(86_400)))
        let integrator = Integrator(provider)
        let keys = keys
        var total = 0
        for operation in 0..<operations { total += try await integrator.request(keys[operation & 1_023]) }
        return total
    }

    /// Counts its requests, and answers when the last one has arrived.
    private final class Counted: DataProvider {
        let gate = Gate()
        let requests = Atomic(0)

        func request(_ key: String) async throws -> Int {
            requests.add(1, ordering: .relaxed)
            await gate.pass()
            return key.utf8.count
        }
    }

    private static let shared = Side("cached, shared", proof: { $0 * 3 }) { operations in
        let provider = Counted()
        let cached = provider.cached(in: MemoryCache<String, Int>(countLimit: 10), policy: .remoteOnly)
        let total = try await Simultaneous.sum(of: operations, opening: provider.gate) {
            try await cached.request("key")
        }
        if Simultaneous.startsAtOnce {
            try Fault.unless(provider.requests.load(ordering: .relaxed), is: 1, "upstream requests")
        }
        return total
    }

    private static let sharedTask = Side("a shared Task", proof: { $0 * 3 }) { operations in
        let provider = Counted()
        let running = Mutex<Task<Int, any Error>?>(nil)
        return try await Simultaneous.sum(of: operations, opening: provider.gate) {
            let task = running.withLock { running in
                if let running { return running }
                let task = Task { try await provider.request("key") }
                running = task
                return task
            }
            return try await task.value
        }
    }
}
