import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

@MainActor
@Suite("A store of layers", .fewAtOnce, .timeLimit(.ample))
struct LayeredStoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Kind: CaseIterable, Sendable { case rows, memory, disk }

    private func layer(_ kind: Kind) throws -> any Layer {
        switch kind {
        case .rows: Rows()
        case .memory: MemoryCache<String, String>(countLimit: 10)
        case .disk: try DiskCache<String, String>(folder: folder.url)
        }
    }

    /// All pairs in which a store of one's own may have put them.
    nonisolated static let pairs: [[Kind]] = Kind.allCases.flatMap { upper in
        Kind.allCases.filter { $0 != .disk || upper != .disk }.map { [upper, $0] }
    }

    @Test(
        "keeps nothing older than what was heard and then invalidated, and loses nothing newer",
        arguments: pairs, [false, true])
    func tagInvalidated(kinds: [Kind], isShared: Bool) async throws {
        let store = LayeredStore(try kinds.map { try layer($0) }, isShared: isShared)
        try await store.write("old", for: "key")
        let permit = store.ledger.permit(for: "key")
        let entry = store.ledger.entry("new", tags: ["new"])
        #expect(permit.answer(entry) == nil)
        try await store.invalidate(tag: "new")
        #expect(await store.values("key") == ["old", "old"])
        // What is asked for since isn't kept out by that.
        let later = store.ledger.permit(for: "key")
        await store.keep(entry, for: "key", permit: permit)
        #expect(await store.values("key") == [nil, nil])
        await store.keep(store.ledger.entry("later"), for: "key", permit: later)
        #expect(await store.values("key") == ["later", "later"])
    }

    /// A memory cache around whose removals a store of one's own does something else as well.
    private final class Wrapper: CacheStore {
        let inner = MemoryCache<String, String>(countLimit: 10)
        private let beforeRemoving: @Sendable (MemoryCache<String, String>) async throws -> Void

        init(beforeRemoving: @escaping @Sendable (MemoryCache<String, String>) async throws -> Void) {
            self.beforeRemoving = beforeRemoving
        }

        var ledger: CacheLedger<String, String> { inner.ledger }

        func get(_ key: String) -> CacheEntry<String>? { inner.get(key) }
        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) {
            inner.set(entry, for: key, permit: permit)
        }

        func remove(_ key: String) async throws {
            try await beforeRemoving(inner)
            inner.remove(key)
        }

        func removeAll(tagged tag: String) { inner.removeAll(tagged: tag) }
        func removeAll() { inner.removeAll() }
    }

    /// Writes something older, and gives out what was heard since and then invalidated, with the right to write it.
    private func revoked(
        _ store: some CacheStore<String, String>
    ) async throws -> (CacheEntry<String>, CachePermit<String, String>) {
        try await store.write("old", for: "key")
        let permit = store.ledger.permit(for: "key")
        let entry = store.ledger.entry("new", tags: ["new"])
        #expect(permit.answer(entry) == nil)
        try await store.invalidate(tag: "new")
        return (entry, permit)
    }

    @Test("removes from other caches what it wants to, while it is asked to clear", arguments: 0..<3)
    func removesElsewhere(way: Int) async throws {
        let other = try DiskCache<String, String>(folder: folder.url)
        let started = Shared<Task<Void, any Error>?>(nil)
        let store = Wrapper { _ in
            switch way {
            case 0: try await other.remove("key")
            case 1: try await other.invalidate("key")
            default: started.value = Task { try await other.remove("key") }
            }
        }
        let (entry, permit) = try await revoked(store)
        try await other.set("made of the old one", for: "key")
        let late = other.ledger.permit(for: "key")
        await store.keep(entry, for: "key", permit: permit)
        try await started.value?.value
        #expect(store.get("key") == nil)
        #expect(await other.get("key") == nil)
        try await other.set(other.ledger.entry("late"), for: "key", permit: late)
        #expect(await other.get("key") == nil)
    }

    @Test("keeps what lands while it is asked to clear")
    func landsMeanwhile() async throws {
        let removals = ControlledDataProvider<Void, Void>()
        let store = Wrapper { _ in try await removals.request(()) }
        let (entry, permit) = try await revoked(store)
        let later = store.ledger.permit(for: "key")
        let keeping = Task { await store.keep(entry, for: "key", permit: permit) }
        let removal = try await removals.waitForRequest()
        let newest = store.ledger.entry("later")
        #expect(later.answer(newest) == nil)
        await store.keep(newest, for: "key", permit: later)
        #expect(store.get("key")?.value == "later")
        removal.answer()
        await keeping.value
        #expect(store.get("key")?.value == "later")
    }

    @Test("lets a cache off the removal once, and for the one key")
    func letsOffOnce() async throws {
        let store = Wrapper { inner in
            inner.set("made of the old one", for: "other")
            inner.remove("other")
            inner.remove("key")
            inner.set("made of the old one", for: "key")
        }
        let (entry, permit) = try await revoked(store)
        await store.keep(entry, for: "key", permit: permit)
        for key in ["other", "key"] { #expect(store.get(key) == nil) }
    }

    @Test("lets no cache off what it has started and not waited for")
    func startsMeanwhile() async throws {
        let removals = ControlledDataProvider<Void, Void>()
        let started = Shared<Task<Void, any Error>?>(nil)
        let store = Wrapper { inner in
            started.value = Task {
                try await removals.request(())
                inner.remove("key")
            }
            throw Offline()
        }
        let (entry, permit) = try await revoked(store)
        await store.keep(entry, for: "key", permit: permit)
        store.inner.set("made of the old one", for: "key")
        try await removals.waitForRequest().answer()
        try await started.value?.value
        #expect(store.get("key") == nil)
    }

    @Test(
        "keeps what another process has written into a layer, where it keeps nothing older than what was heard",
        arguments: pairs.filter { $0.contains(.disk) }, [false, true])
    func newerFromElsewhere(kinds: [Kind], isShared: Bool) async throws {
        let store = LayeredStore(try kinds.map { try layer($0) }, isShared: isShared)
        let (entry, permit) = try await revoked(store)
        try await DiskCache<String, String>(folder: folder.url).set("newer", for: "key")
        await store.keep(entry, for: "key", permit: permit)
        #expect(await store.values("key") == kinds.map { $0 == .disk ? "newer" : nil })
    }
}
