import IDMCaching
import IDMCore
import IDMTesting

/// A store that takes its time: each read and each write waits until the test ends it.
final class ControlledStore: CacheStore {
    let ledger: CacheLedger<String, String>
    let reads = ControlledDataProvider<String, CacheEntry<String>?>(reactsToCancel: false)
    let writes = ControlledDataProvider<String, Void>(reactsToCancel: false)
    /// What has landed.
    let memory = MemoryCache<String, String>(countLimit: 100)
    /// How many writes have ended.
    let written = Observed(0)

    init(clock: CacheClock = .system, _ outcomes: Outcomes = Outcomes()) {
        ledger = CacheLedger(clock: clock, onOutcome: outcomes.hook())
    }

    func get(_ key: String) async throws -> CacheEntry<String>? {
        try await reads.request(key)
    }

    func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
        try await writes.request(key)
        memory.set(entry, for: key, permit: permit)
        written.change { $0 += 1 }
    }

    func remove(_ key: String) async throws { memory.remove(key) }
    func removeAll(tagged tag: String) async throws { memory.removeAll(tagged: tag) }
    func removeAll() async throws { memory.removeAll() }
}
