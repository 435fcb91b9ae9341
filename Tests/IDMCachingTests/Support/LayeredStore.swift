import IDMCore
import TestSupport

@testable import IDMCaching

/// Layers of a store: one ledger, and the same permit for all of them.
protocol Layer: Sendable {
    /// The ledger that it has brought with it.
    var own: CacheLedger<String, String>? { get }
    func value(_ key: String) async -> String?
    func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws
    func remove(_ key: String) async throws
    func removeAll(tagged tag: String) async throws
    func removeAll() async throws
}

/// Rows of a table that knows nothing of caches.
final class Rows: Layer {
    private let entries = Shared<[String: CacheEntry<String>]>([:])
    let own: CacheLedger<String, String>? = nil

    func value(_ key: String) -> String? { entries.value[key]?.value }

    func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) {
        entries.change { if permit.claim(entry) { $0[key] = entry } }
    }

    func remove(_ key: String) { entries.change { $0[key] = nil } }
    func removeAll(tagged tag: String) { entries.change { $0 = $0.filter { !$0.value.tags.contains(tag) } } }
    func removeAll() { entries.value = [:] }
}

extension MemoryCache: Layer where Key == String, Value == String {
    var own: CacheLedger<String, String>? { ledger }
    func value(_ key: String) -> String? { get(key)?.value }
}

extension DiskCache: Layer where Key == String, Value == String {
    var own: CacheLedger<String, String>? { ledger }
    func value(_ key: String) async -> String? { await get(key)?.value }
}

struct LayeredStore: CacheStore {
    let ledger: CacheLedger<String, String>
    let layers: [any Layer]

    /// - Parameter isShared: Whether the ledger is that of a layer, if one has any.
    init(_ layers: [any Layer], isShared: Bool) {
        self.layers = layers
        ledger = (isShared ? layers.lazy.compactMap(\.own).first : nil) ?? CacheLedger()
    }

    func get(_ key: String) async throws -> CacheEntry<String>? {
        for layer in layers {
            if let value = await layer.value(key) { return ledger.entry(value) }
        }
        return nil
    }

    func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
        for layer in layers { try await layer.set(entry, for: key, permit: permit) }
    }

    func remove(_ key: String) async throws { for layer in layers { try await layer.remove(key) } }
    func removeAll(tagged tag: String) async throws { for layer in layers { try await layer.removeAll(tagged: tag) } }
    func removeAll() async throws { for layer in layers { try await layer.removeAll() } }

    func values(_ key: String) async -> [String?] {
        var values: [String?] = []
        for layer in layers { values.append(await layer.value(key)) }
        return values
    }
}
