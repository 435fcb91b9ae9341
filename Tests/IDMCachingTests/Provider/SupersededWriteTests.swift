import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// Two writes of one key at the same time. What has returned is there, whatever becomes of the later one.
@Suite("A write that a later one supersedes", .fewAtOnce, .timeLimit(.ample))
struct SupersededWriteTests {
    private let folder: TemporaryFolder
    private let files = FaultyFiles()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func disk(
        memory: Int? = nil, _ coding: CacheCoding<String> = .json, durability: CacheDurability = .process,
        text: @escaping @Sendable (String) -> String = { $0 }
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(), memoryLimit: memory, durability: durability,
            coding: coding, ledger: CacheLedger(), files: files, text: text)
    }

    // MARK: Every store

    enum Store: CaseIterable, Sendable {
        case memory, disk, diskAndMemory, memoryOverDisk, diskOverMemory, rowsOverDisk, memoryOverRows
    }

    private func layers(_ store: Store) throws -> [any Layer] {
        let memory = MemoryCache<String, String>(countLimit: 10)
        return switch store {
        case .memory: [memory]
        case .disk: [try disk()]
        case .diskAndMemory: [try disk(memory: 5)]
        case .memoryOverDisk: [memory, try disk()]
        case .diskOverMemory: [try disk(), memory]
        case .rowsOverDisk: [Rows(), try disk()]
        case .memoryOverRows: [memory, Rows()]
        }
    }

    @Test("lands though the later one is known, and the later one lands over it", arguments: Store.allCases)
    func lands(store: Store) async throws {
        let layers = try layers(store)
        let store = LayeredStore(layers, isShared: true)
        try await store.write("old", for: "key")
        let permits = (store.ledger.permit(for: "key"), store.ledger.permit(for: "key"))
        let entries = (store.ledger.entry("earlier"), store.ledger.entry("later"))
        #expect(permits.0.answer(entries.0) == nil && permits.1.answer(entries.1) == nil)

        await store.keep(entries.0, for: "key", permit: permits.0)
        #expect(await store.values("key") == layers.map { _ in "earlier" })
        await store.keep(entries.1, for: "key", permit: permits.1)
        #expect(await store.values("key") == layers.map { _ in "later" })
        // But never the other way round.
        await store.keep(entries.0, for: "key", permit: permits.0)
        #expect(await store.values("key") == layers.map { _ in "later" })
    }

    // MARK: On disk

    /// Holds the encoding of "earlier" until the later write was asked for.
    private struct Scene: Sendable {
        let isEncoding = Signal()
        private let isAsked = DispatchSemaphore(value: 0)

        func coding(_ encodeLater: @escaping @Sendable () throws -> Void) -> CacheCoding<String> {
            CacheCoding(
                encode: { value in
                    if value == "earlier" {
                        isEncoding.open()
                        isAsked.wait()
                    }
                    if value == "later" { try encodeLater() }
                    return Data(value.utf8)
                }, decode: { String(decoding: $0, as: UTF8.self) })
        }

        func text(_ key: String) -> String {
            if isEncoding.isOpen { isAsked.signal() }
            return key
        }
    }

    @Test(
        "is there when it has returned, though the later one can't be encoded", arguments: [nil, 5], [true, false])
    func unencodable(memory: Int?, isFirst: Bool) async throws {
        let scene = Scene()
        let cache = try disk(memory: memory, scene.coding { throw CocoaError(.coderInvalidValue) }, text: scene.text)
        if !isFirst { try await cache.set("old", for: "key") }

        async let earlier: Void = cache.set("earlier", for: "key")
        try await scene.isEncoding.wait()
        await #expect(throws: DiskCacheError.self) { try await cache.write("later", for: "key") }

        try await earlier
        #expect(await cache.get("key")?.value == "earlier")
        #expect(cache.ledger.isEmpty)
    }

    @Test("is what a late request hears, where the later one can't be encoded")
    func unencodableIsNoAnswer() async throws {
        let cache = try disk(Scene().coding { throw CocoaError(.coderInvalidValue) })
        let remote = ControlledDataProvider<String, String>()
        let late = Task { try await remote.cached(in: cache, policy: .remoteOnly).request("key") }
        let request = try await remote.waitForRequest()
        await #expect(throws: DiskCacheError.self) { try await cache.set("later", for: "key") }
        request.answer("answer")
        #expect(try await late.value == "answer")
        #expect(await cache.get("key")?.value == "answer")
    }

    @Test("is there when it has returned, though the process is killed before the later one is", arguments: [nil, 5])
    func killed(memory: Int?) async throws {
        let (path, limit) = (folder.path, memory ?? 0)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, limit = limit as Int] in
            let (scene, hasReturned) = (Scene(), DispatchSemaphore(value: 0))
            let cache = try DiskCache<String, String>(
                folder: URL(fileURLWithPath: path), memoryLimit: limit > 0 ? limit : nil,
                coding: scene.coding {
                    hasReturned.wait()
                    kill(getpid(), SIGKILL)
                }, text: scene.text)
            try await cache.set("old", for: "key")
            async let earlier: Void = cache.set("earlier", for: "key")
            try await scene.isEncoding.wait()
            async let later: Void = cache.set("later", for: "key")
            try await earlier
            hasReturned.signal()
            try await later
        }
        let coding = CacheCoding(encode: { Data($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
        let found = try await DiskCache<String, String>(folder: folder.url, coding: coding).get("key")?.value
        #expect(found == "earlier")
    }

    // MARK: In layers

    /// A disk cache, with another store before it or without one. Writes reach the disk when the test lets them.
    private final class HeldStore: CacheStore {
        let disk: DiskCache<String, String>
        let memory: MemoryCache<String, String>?
        let writes = ControlledDataProvider<String, Void>(reactsToCancel: false)

        init(_ disk: DiskCache<String, String>, hasMemory: Bool) {
            self.disk = disk
            memory = hasMemory ? MemoryCache(countLimit: 10) : nil
        }

        var ledger: CacheLedger<String, String> { disk.ledger }

        func get(_ key: String) async -> CacheEntry<String>? {
            if let entry = memory?.get(key) { return entry }
            return await disk.get(key)
        }

        func set(_ entry: CacheEntry<String>, for key: String, permit: CachePermit<String, String>) async throws {
            memory?.set(entry, for: key, permit: permit)
            try await writes.request(entry.value)
            try await disk.set(entry, for: key, permit: permit)
        }

        func remove(_ key: String) async throws {
            memory?.remove(key)
            try await disk.remove(key)
        }

        func removeAll(tagged tag: String) async throws { try await disk.removeAll(tagged: tag) }
        func removeAll() async throws { try await disk.removeAll() }
    }

    enum Failure: CaseIterable, Sendable { case none, encoding, renaming, journal }

    @Test(
        "has failed with the later one, or is there, wherever the later one fails", arguments: Failure.allCases,
        [false, true])
    func laterFails(failure: Failure, hasMemory: Bool) async throws {
        // The fault is the later one's: nothing else is done between its encoding and its end.
        let coding = CacheCoding<String>(
            encode: { [files] value in
                guard value == "later" else { return Data(value.utf8) }
                switch failure {
                case .none: break
                case .encoding: throw CocoaError(.coderInvalidValue)
                case .renaming: files.fail(next: .rename, EIO)
                case .journal: files.before(next: .lock) { files.fail(next: .write, ENOSPC) }
                }
                return Data(value.utf8)
            }, decode: { String(decoding: $0, as: UTF8.self) })
        for isEarlierFirst in [false, true] {
            let store = HeldStore(try disk(coding), hasMemory: hasMemory)
            try await store.disk.set("old", for: "key")
            let earlier = Task { try await store.write("earlier", for: "key") }
            let first = try await store.writes.waitForRequest()
            let later = Task { try await store.write("later", for: "key") }
            let second = try await store.writes.waitForRequest()
            if isEarlierFirst { first.answer() }
            second.answer()
            let isLaterDone = await (try? later.value) != nil
            if !isEarlierFirst { first.answer() }
            let isEarlierDone = await (try? earlier.value) != nil

            let found = await store.disk.get("key")?.value
            #expect(isLaterDone == (failure == .none))
            if isLaterDone { #expect(found == "later" && isEarlierDone) }
            if isEarlierDone { #expect(found != "old", "\(isEarlierFirst)") }
            try await store.disk.wipe()
        }
    }

    @Test("ends with an error when its task is cancelled while it waits for the later one")
    func cancelled() async throws {
        let store = HeldStore(try disk(), hasMemory: true)
        let earlier = Task { try await store.write("earlier", for: "key") }
        let first = try await store.writes.waitForRequest()
        let later = Task { try await store.write("later", for: "key") }
        let second = try await store.writes.waitForRequest()
        earlier.cancel()
        first.answer()
        await #expect(throws: CancellationError.self) { try await earlier.value }
        second.answer()
        try await later.value
        #expect(await store.disk.get("key")?.value == "later")
    }

    // MARK: Write-through

    @Test("lets its request end when the later answer has been written, and no sooner", arguments: [false, true])
    func writeThrough(isFailing: Bool) async throws {
        try await TestScope.run {
            let (clock, store, log) = (ManualClock(), ControlledStore(), Shared<[String]>([]))
            let remote = ControlledDataProvider<String, String>()
            let provider = remote.cached(in: store, policy: .remoteOnly)
            let first = Integrator(provider).prepareCall("key").heard(in: log).call()
            let request = try await remote.waitForRequest()
            let second = Integrator(provider.refreshing).prepareCall("key").call()
            try await remote.waitForRequest().answer("newer")
            let write = try await store.writes.waitForRequest()
            request.answer("older")
            await clock.rest()
            #expect(log.value == ["begin", "newer"])
            if isFailing { write.fail(Offline()) } else { write.answer() }
            for task in [first, second] { await task.finish() }
            #expect(log.value == ["begin", "newer", "completion"])
        }
    }

    // MARK: Between processes

    @Test("isn't lost for one that another process was to write, and was killed before", arguments: [false, true])
    func killedElsewhere(hasOld: Bool) async throws {
        let (first, second, third) = (try disk(), try disk(), try DiskCache<String, String>(folder: folder.url))
        try await first.set("any", for: "any")
        // As long as what it replaces: its length alone doesn't say whether it is there.
        if hasOld { try await first.set("old", for: "key") }
        for cache in [second, third] { try await cache.set("any", for: "any") }
        let permits = [first, third].map { ($0, $0.ledger.permit(for: "key")) }
        files.before(next: .rename) { [files] in files.fail(0, EIO, staysDead: true) }
        await #expect(throws: DiskCacheError.self) { try await second.set("new", for: "key") }
        files.fail(nil)
        for (cache, permit) in permits {
            try await cache.set(cache.ledger.entry("by permit"), for: "key", permit: permit)
            #expect(await cache.get("key")?.value == "by permit")
            try await cache.remove("any")
        }
    }

    @Test("is safe from a loss of power when it ends, where another process has written the later one")
    func synchronized() async throws {
        let (first, second) = (try disk(durability: .power), try DiskCache<String, String>(folder: folder.url))
        let permit = first.ledger.permit(for: "key")
        try await second.set("later", for: "key")
        files.fail(nil)
        try await first.set(first.ledger.entry("earlier"), for: "key", permit: permit)
        #expect(await first.get("key")?.value == "later")
        // Two folders and the entry that is dropped, and then the one that is there and its folder.
        #expect(files.made.count { $0 == .synchronize } == 4)
    }
}
