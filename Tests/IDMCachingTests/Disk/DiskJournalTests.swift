import Foundation
import TestSupport
import Testing

@testable import IDMCaching

/// What caches of one partition tell one another, and what stands there when something went wrong.
@Suite("A journal", .timeLimit(.ample))
struct DiskJournalTests {
    private let folder: TemporaryFolder
    private let outcomes = Outcomes()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(memory: Int? = 10, entries: Int? = nil, bytes: Int? = nil) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, byteLimit: bytes, entryLimit: entries, memoryLimit: memory, onOutcome: outcomes.hook())
    }

    private func open(_ files: FaultyFiles, entries: Int? = nil) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(entries: entries), durability: .process,
            coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files, text: { $0 })
    }

    /// Where the journal is.
    private var path: String { folder.path + "/shared/changes" }

    private func add(_ bytes: [UInt8]) throws {
        let journal = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try journal.seekToEnd()
        try journal.write(contentsOf: Data(bytes))
        try journal.close()
    }

    @Test("A journal that gets long is begun anew, and nobody misses anything of it")
    func longJournal() async throws {
        let (first, second) = (try open(), try open())
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        let late = second.ledger.permit(for: "key")
        try await first.set("new", for: "key")
        let journal = try #require(folder.journals.first)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
        try file.truncate(atOffset: UInt64(DiskJournal.greatestLength))
        try file.close()
        let waiting = second.ledger.permit(for: "waiting")
        try await first.set("other", for: "other")
        for round in 0..<3 { try await first.set("\(round)", for: "other") }
        let length = try FileManager.default.attributesOfItem(atPath: journal)[.size] as? Int
        #expect(length == 5 * DiskChange.length)
        try await second.set(second.ledger.entry("waiting"), for: "waiting", permit: waiting)
        #expect(await first.get("waiting")?.value == "waiting")
        try await second.set(second.ledger.entry("late"), for: "key", permit: late)
        #expect(await second.get("key")?.value == "new")
        #expect(await second.get("other")?.value == "2")
    }

    @Test("A journal is for this user alone, and what another thing in its place is, is put aside", arguments: 0..<4)
    func foreignJournal(way: Int) async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        let journal = try #require(folder.journals.first)
        #expect(try folder.mode(of: journal) == 0o600)
        try FileManager.default.removeItem(atPath: journal)
        switch way {
        case 0: try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
        case 1: try FileManager.default.createSymbolicLink(atPath: journal, withDestinationPath: folder.path + "/x")
        case 2: #expect(mkfifo(journal, 0o600) == 0)
        default: try Data(repeating: 0xff, count: 1_001).write(to: URL(fileURLWithPath: journal))
        }
        let (first, second) = (try open(), try open())
        try await first.set("new", for: "key")
        #expect(await second.get("key")?.value == "new")
        try await second.set("newer", for: "key")
        #expect(await first.get("key")?.value == "newer")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/x"))
        #expect(folder.damaged.count == (way < 3 ? 1 : 0))
        #expect(outcomes.count("failed") == 0)
    }

    @Test("Who has missed a journal altogether doesn't write what it could have forbidden")
    func missedJournal() async throws {
        let (first, second) = (try open(), try open())
        let late = second.ledger.permit(for: "key")
        try await first.set("value", for: "other")
        for _ in 0..<2 { try await first.wipe() }
        try await second.set(second.ledger.entry("late"), for: "key", permit: late)
        #expect(await second.get("key") == nil)
        try await second.set("new", for: "key")
        #expect(await first.get("key")?.value == "new")
    }

    @Test("Changes are read as they were written, and a part of one as none")
    func changes() {
        let change = DiskChange(
            kind: .written, subject: Digest(of: "key".utf8), time: -5, bytes: -1_000_000_000, entries: 1)
        let all = [change, DiskChange(kind: .allRemoved, time: .max), DiskChange(kind: .lost, time: 0, entries: -1)]
        let bytes = all.flatMap(\.encoded)
        #expect(bytes.count == 3 * DiskChange.length)
        #expect(DiskChange.all(in: bytes) == all)
        #expect(DiskChange.all(in: Array(bytes.dropLast())) == Array(all.dropLast()))
        #expect(DiskChange.all(in: Array(repeating: 0, count: 128) + bytes) == all)
    }

    @Test("Numbers that make no sense are no numbers, and how much there is gets counted anew", arguments: 0..<4)
    func nonsense(way: Int) async throws {
        let cache = try open(entries: 4)
        try await cache.set("value", for: "0")
        var change = DiskChange(kind: .written, subject: Digest(of: "0".utf8), time: 0)
        switch way {
        case 0: change.bytes = .max
        case 1: change.bytes = .min
        case 2: change.entries = .max
        default: change.entries = -2
        }
        #expect(DiskChange.all(in: change.encoded).map(\.kind) == [.withdrawn])
        try add(change.encoded)
        for key in 1..<8 {
            try await cache.set("value", for: "\(key)")
            #expect(folder.entries.count <= 4)
            #expect(await cache.get("\(key)")?.value == "value")
        }
        #expect(outcomes.count("failed") == 0)
    }

    @Test("All zeros, as after the power went, keep nobody from seeing that another folder has come")
    func zeros() async throws {
        try await open().set("any", for: "any")
        try Data(count: 128).write(to: URL(fileURLWithPath: path))
        let cache = try open()
        try await cache.set("value", for: "key")
        #expect(await cache.get("key")?.value == "value")
        try FileManager.default.removeItem(at: folder.url)
        try await open().set("other", for: "other")
        for _ in 0..<3 { #expect(await cache.get("key") == nil) }
    }

    @Test("Whatever its length, it is read in parts, and nothing between them is missed")
    func anyLength() async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        #expect(await cache.get("key")?.value == "old")
        let late = cache.ledger.permit(for: "late")
        let change = DiskChange(kind: .tagRemoved, subject: Digest(of: "any".utf8), time: 0)
        let many = Array(repeating: change.encoded, count: DiskJournal.greatestLength / DiskChange.length).joined()
        let removal = DiskChange(kind: .removed, subject: Digest(of: "late".utf8), time: MachineTime.now)
        try add(Array(many) + removal.encoded + Array(many))
        try await cache.set(cache.ledger.entry("late"), for: "late", permit: late)
        #expect(await cache.get("late") == nil)
        try await cache.set("new", for: "key")
        #expect(await cache.get("key")?.value == "new")
        // It had got long.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count < DiskJournal.greatestLength)
    }

    @Test("A process that was killed between telling of a removal and making it lets nobody pass the bounds")
    func killedBetween() async throws {
        let files = FaultyFiles()
        let dying = try open(files, entries: 3)
        let other = try open(memory: nil, entries: 3)
        for key in 0..<3 { try await other.set("value", for: "\(key)") }
        try await dying.remove("nothing")
        files.before(next: .remove) { files.fail(0, EIO, staysDead: true) }
        await #expect(throws: DiskCacheError.self) { try await dying.remove("0") }
        try await other.set("value", for: "3")
        #expect(folder.entries.count <= 3)
    }

    @Test(
        "A wipe that can't begin a new one fails, as the old one tells of keys",
        arguments: [FileFault.Call.rename, .open])
    func oldOneStays(call: FileFault.Call) async throws {
        let files = FaultyFiles()
        let cache = try open(files)
        try await cache.set("value", for: "key")
        files.fail(next: call, EIO)
        await #expect(throws: DiskCacheError.self) { try await cache.wipe() }
        #expect(folder.entries == [])
        func tells() throws -> Bool {
            try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(Digest(of: "key".utf8).bytes)) != nil
        }
        #expect(try tells())
        try await cache.wipe()
        #expect(try !tells())
    }

    @Test("Files whose names can't be counted let nobody go round for ever")
    func noLinks() async throws {
        let files = FaultyFiles()
        files.countNoNames()
        let cache = try open(files)
        await #expect(throws: DiskCacheError.self) { try await cache.set("value", for: "key") }
        #expect(files.openFiles == 0)
    }
}
