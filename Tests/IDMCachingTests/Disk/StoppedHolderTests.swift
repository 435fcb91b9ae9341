import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// Another process has locked a partition, and doesn't go on.
@Suite("While another process holds a partition", .fewAtOnce, .timeLimit(.ample))
struct StoppedHolderTests: PartitionTests {
    let partition: Partition

    init() throws {
        partition = try Partition()
    }

    /// A lock of the journal, as a stopped process has it.
    private final class Holder: Sendable {
        private let file: Int32

        init(_ journal: String) throws {
            file = Foundation.open(journal, O_RDWR | O_CLOEXEC)
            try #require(flock(file, LOCK_EX) == 0)
        }

        deinit { close(file) }

        func release() { flock(file, LOCK_UN) }
    }

    private nonisolated static let age = Duration.seconds(86_400)

    @Test(
        "a request that has an answer ends, under every policy, and its write lands afterwards",
        arguments: [
            (CachePolicy.cachedThenRemote, "new"), (.cacheElseRemote(maxAge: age), "old"),
            (.cacheElseRemote(maxAge: .zero), "new"), (.staleWhileRevalidate(maxAge: age), "old"),
            (.staleWhileRevalidate(maxAge: .zero), "new"), (.remoteElseCache, "new"), (.cacheOnly, "old"),
            (.remoteOnly, "new"), (.refresh, "new"),
        ], [nil, 10])
    func requests(policy: (kind: CachePolicy, last: String), memory: Int?) async throws {
        let cache = try open(memory: memory)
        let keys = (0..<16).map { "\($0)" }
        for key in keys { try await cache.set("old", for: key) }
        let holder = try Holder(journal)
        let provider = ValueDataProvider<String, String>("new").cached(in: cache, policy: policy.kind)

        for key in keys { #expect(await provider.everything(for: key).last == policy.last) }
        if policy.kind != .cacheOnly { #expect(await provider.everything(for: "other") == ["new"]) }

        holder.release()
        guard policy.last == "new" else { return }
        for key in keys { try await outcomes.hear("written \(key)", times: 2) }
        for key in keys { #expect(try await open().get(key)?.value == "new") }
    }

    @Test("a read finds what is there, also what isn't in memory, and a damaged entry is a miss", arguments: [nil, 10])
    func reads(memory: Int?) async throws {
        let filling = try open()
        let keys = (0..<8).map { "\($0)" }
        for key in keys { try await filling.set(key, for: key) }
        let cache = try open(memory: memory)
        let (holder, late) = (try Holder(journal), try open())
        // Its lane waits, and so do those of others.
        let writes = keys.map { key in Task { try await late.set("late", for: key) } }
        let damaged = folder.path + "/shared/" + Digest(of: "0".utf8).hex
        try Data([1]).write(to: URL(fileURLWithPath: damaged))

        for key in keys {
            for cache in [cache, late] { #expect(await cache.get(key)?.value == (key == "0" ? nil : key)) }
        }
        #expect(outcomes.count("damaged 0") == 2 && folder.damaged == [])

        holder.release()
        for write in writes { try await write.value }
        for key in keys { #expect(await cache.get(key)?.value == "late") }
    }

    @Test("whose process is stopped, requests end, and a write ends when that process is killed")
    func stopped() async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        let (path, pipe) = (folder.path, folder.path + "/pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        try await withThrowingTaskGroup { group in
            group.addTask {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                    let files = FaultyFiles()
                    let cache = try DiskCache<String, String>(
                        folder: URL(fileURLWithPath: path), partition: nil, bounds: DiskBounds(), durability: .process,
                        coding: .json, ledger: CacheLedger(), files: files, text: { $0 })
                    files.before(next: .rename) {
                        let pipe = Foundation.open(path + "/pipe", O_WRONLY)
                        var process = getpid()
                        write(pipe, &process, 4)
                        kill(process, SIGSTOP)
                        // Not every system stops the thread that asks for it at once.
                        while true { pause() }
                    }
                    try await cache.set("new", for: "key")
                }
            }
            let process = await Task(executorPreference: OneThread()) {
                let file = Foundation.open(pipe, O_RDONLY)
                defer { close(file) }
                var process: Int32 = 0
                return read(file, &process, 4) == 4 ? process : 0
            }.value
            try #require(process > 0)

            let provider = ValueDataProvider<String, String>("newest").cached(in: cache)
            #expect(await provider.everything(for: "key").last == "newest")
            #expect(await provider.policy(.cacheOnly).everything(for: "key") == ["newest"])
            kill(process, SIGKILL)
            try await cache.set("last", for: "other")
            try await group.waitForAll()
        }
        try await outcomes.hear("written key", times: 2)
        #expect(try await open().get("key")?.value == "newest")
    }

    @Test("what was removed or wiped meanwhile is so when the call ends", arguments: [false, true])
    func removals(isWipe: Bool) async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        let holder = try Holder(journal)
        let removal = Task { if isWipe { try await cache.wipe() } else { try await cache.remove("key") } }
        #expect(try await open().get("key")?.value == "old")
        holder.release()
        try await removal.value
        #expect(await cache.get("key") == nil)
    }

    // MARK: Cancels

    @Test(
        "or a store is slow for another reason, a cancel ends a request at once, under every policy",
        arguments: [
            CachePolicy.cachedThenRemote, .cacheElseRemote(maxAge: age), .staleWhileRevalidate(maxAge: age),
            .remoteElseCache, .cacheOnly,
        ])
    func cancelled(policy: CachePolicy) async throws {
        let ledger = try await settled {
            let (store, remote) = (ControlledStore(), ControlledDataProvider<String, String>())
            let provider = remote.cached(in: store, policy: policy)
            let words = Task { await provider.everything(for: "key") }
            if policy == .remoteElseCache { try await remote.waitForRequest().fail(Offline()) }
            let read = try await store.reads.waitForRequest()
            words.cancel()
            #expect(await words.value == ["error CancellationError()"])
            read.answer(nil)
            return store.ledger
        }
        #expect(ledger.isEmpty)
    }
}
