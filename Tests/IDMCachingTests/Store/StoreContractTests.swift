import IDMCaching
import IDMCachingTesting
import IDMTesting
import TestSupport
import Testing

@Suite("The store contract", .inScope, .timeLimit(.ample))
struct StoreContractTests {
    @Test("A memory cache keeps the contract")
    func memory() async throws {
        try await StoreContract.check(values: ["a": 1, "b": 2, "": 3]) { MemoryCache<String, Int>(countLimit: 100) }
    }

    @Test("A disk cache keeps the contract")
    func disk() async throws {
        let folders = Observed<[TemporaryFolder]>([])
        try await StoreContract.check(values: ["a": 1, "b": 2, "": 3]) {
            let folder = try TemporaryFolder()
            folders.change { $0.append(folder) }
            return try DiskCache<String, Int>(folder: folder.url, text: { $0 })
        }
        withExtendedLifetime(folders) {}
    }

    /// A store over a dictionary, with one fault.
    private final class FaultyStore: CacheStore {
        enum Fault: CaseIterable {
            case forgetsTags, removesTooMuch, ignoresTags, keepsOne, ignoresPermits, mixesKeys
        }

        let ledger = CacheLedger<String, Int>()
        private let fault: Fault
        private let entries = Observed<[String: CacheEntry<Int>]>([:])

        init(_ fault: Fault) {
            self.fault = fault
        }

        func get(_ key: String) async throws -> CacheEntry<Int>? { entries.value[fault == .mixesKeys ? "" : key] }

        func set(_ entry: CacheEntry<Int>, for key: String, permit: CachePermit<String, Int>) async throws {
            entries.change { [fault] entries in
                guard fault == .ignoresPermits || permit.claim(entry) else { return }
                let kept = CacheEntry(entry.value, stamp: entry.stamp, tags: fault == .forgetsTags ? [] : entry.tags)
                entries[fault == .mixesKeys ? "" : key] = kept
            }
        }

        func remove(_ key: String) async throws {
            entries.change { [fault] in if fault == .removesTooMuch { $0 = [:] } else { $0[key] = nil } }
        }

        func removeAll(tagged tag: String) async throws {
            entries.change { [fault] entries in
                if fault != .ignoresTags { entries = entries.filter { !$0.value.tags.contains(tag) } }
            }
        }

        func removeAll() async throws {
            entries.change { [fault] entries in
                entries = fault == .keepsOne ? entries.filter { $0.key == "a" } : [:]
            }
        }
    }

    @Test("A fault of a store is a violation of its rule", arguments: FaultyStore.Fault.allCases)
    private func faults(fault: FaultyStore.Fault) async throws {
        let rules: [FaultyStore.Fault: StoreContract.Rule] = [
            .forgetsTags: .readsWhatWasWritten, .removesTooMuch: .removesOneEntry, .ignoresTags: .removesByTag,
            .keepsOne: .removesAll, .ignoresPermits: .asksThePermit, .mixesKeys: .readsWhatWasWritten,
        ]
        let found = Observed<[StoreContract.Violation]>([])
        let failures = try await TestScope.failures {
            let violations = try await StoreContract.check(values: ["a": 1, "b": 2]) { FaultyStore(fault) }
            found.change { $0 = violations }
        }

        #expect(found.value.contains { $0.rule == rules[fault] } && failures.count == found.value.count)
    }
}
