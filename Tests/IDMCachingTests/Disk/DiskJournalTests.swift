import Foundation
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

/// What caches of one partition tell one another, and what stands there when something went wrong.
@Suite("A journal", .offThePool, .timeLimit(.ample))
struct DiskJournalTests: PartitionTests {
    let partition: Partition

    init() throws {
        partition = try Partition()
    }

    @Test("A journal that gets long is begun anew, and nobody misses anything of it")
    func longJournal() async throws {
        let (first, second) = (try open(), try open())
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        let late = second.ledger.permit(for: "key")
        try await first.set("new", for: "key")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
        try file.truncate(atOffset: UInt64(DiskJournal.greatestLength))
        try file.close()
        let waiting = second.ledger.permit(for: "waiting")
        try await first.set("other", for: "other")
        for round in 0..<3 { try await first.set("\(round)", for: "other") }
        let length = try FileManager.default.attributesOfItem(atPath: journal)[.size] as? Int
        #expect(length == 6 * DiskChange.size)
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
        #expect(bytes.count == 3 * DiskChange.size)
        #expect(DiskChange.all(in: bytes) == all)
        #expect(DiskChange.all(in: Array(bytes.dropLast())) == Array(all.dropLast()))
        #expect(DiskChange.all(in: Array(repeating: 0, count: 128) + bytes) == all)
    }

    @Test("Every single bit of a change that flips is found")
    func flipped() {
        let change = DiskChange(
            kind: .written, subject: Digest(of: "key".utf8), time: 5, bytes: -7, entries: 1, length: 9)
        #expect(DiskChange.all(in: change.encoded) == [change])
        for bit in 0..<8 * DiskChange.size {
            var flipped = change.encoded
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(DiskChange.all(in: flipped) == [], "bit \(bit)")
        }
    }

    @Test("Numbers that make no sense end nothing, and how much there is gets counted anew", arguments: 0..<4)
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
        try tell(change.encoded)
        for key in 1..<8 {
            try await cache.set("value", for: "\(key)")
            #expect(folder.entries.count <= 4)
            #expect(await cache.get("\(key)")?.value == "value")
        }
        #expect(outcomes.count("failed") == 0)
    }

    @Test("What would be more than can be counted is not known", arguments: [(Int.max, 0), (0, Int.max)])
    func overflow(bytes: Int, entries: Int) {
        var count = DiskCount.known(DiskUsage(bytes: 1, entries: 1))
        count.hear(DiskChange(kind: .written, time: 0, bytes: bytes, entries: entries))
        guard case .unknown = count else {
            Issue.record("\(count)")
            return
        }
    }

    @Test("All zeros, as after the power went, keep nobody from seeing that another folder has come")
    func zeros() async throws {
        try await open().set("any", for: "any")
        try Data(count: 128).write(to: URL(fileURLWithPath: journal))
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
        let count = DiskJournal.greatestLength / DiskChange.size
        let many = repeatElement(change.encoded, count: count).reduce(into: []) { $0 += $1 }
        let removal = DiskChange(kind: .removed, subject: Digest(of: "late".utf8), time: MachineTime.now)
        try tell(many + removal.encoded + many)
        try await cache.set(cache.ledger.entry("late"), for: "late", permit: late)
        #expect(await cache.get("late") == nil)
        try await cache.set("new", for: "key")
        #expect(await cache.get("key")?.value == "new")
        // It had got long.
        #expect(try Data(contentsOf: URL(fileURLWithPath: journal)).count < DiskJournal.greatestLength)
    }

    enum Work: CaseIterable { case shorter, longer, removal, tag, wipe, damaged }

    @Test("A process that was killed at any call lets nobody pass the bounds", arguments: Work.allCases)
    func killed(work: Work) async throws {
        let living = try open(FaultyFiles(), memory: nil, entries: 8, bytes: 16_000)
        for key in 0..<6 { try await living.set(String(repeating: "x", count: 2_000), for: "\(key)", tags: ["tag"]) }
        var most = 0
        for call in 0..<Volume.of(60, normally: 16) {
            let files = FaultyFiles()
            let killed = try open(files, memory: nil, entries: 8, bytes: 16_000)
            _ = await killed.get("0")
            if work == .damaged, let entry = folder.entries.first {
                try Data(repeating: 1, count: 2_000).write(to: URL(fileURLWithPath: entry))
            }
            files.fail(call, EIO, staysDead: true)
            switch work {
            case .shorter: try? await killed.set("short", for: "0")
            case .longer: try? await killed.set(String(repeating: "y", count: 4_000), for: "0")
            case .removal: try? await killed.remove("0")
            case .tag: try? await killed.invalidate(tag: "tag")
            case .wipe: try? await killed.wipe()
            case .damaged: for key in 0..<6 { _ = await killed.get("\(key)") }
            }
            most = max(most, files.made.count)
            for key in 0..<12 {
                try await living.set(String(repeating: "z", count: 700 + 50 * key), for: "\(key % 9)", tags: ["tag"])
                #expect(folder.entries.count <= 8 && length <= 16_000, "call \(call)")
            }
        }
        #expect(most > 10)
    }

    /// How long the entries are together.
    private var length: Int {
        folder.entries.reduce(0) { $0 + TemporaryFolder.length(of: $1) }
    }

    @Test("A change of which a part was told, before there was no space, is none")
    func torn() async throws {
        let files = FaultyFiles()
        let (living, full) = (try open(FaultyFiles(), memory: nil, entries: 10), try open(files, memory: nil))
        for key in 0..<8 { try await living.set("value", for: "\(key)") }
        try await full.set("value", for: "0")
        files.shorten()
        for key in 0..<5 {
            // The sixth part of the change finds no space. The removal makes some.
            files.before(next: .lock) {
                files.beforeEach { _ in
                    if files.made.count(where: { $0 == .write }) == 6 { files.fail(next: .write, ENOSPC) }
                }
            }
            try await full.remove("\(key)")
            files.beforeEach { _ in }
        }
        for key in 0..<30 {
            try await living.set("value", for: "later \(key)")
            #expect(folder.entries.count <= 10)
        }
    }

    @Test("What is told after a part of a change is heard", arguments: [1, 31, 63])
    func afterPart(length: Int) async throws {
        let (first, second) = (try open(), try open())
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        let part = DiskChange(kind: .lost, subject: .random, time: MachineTime.now, bytes: -1, entries: -1)
        try tell(Array(part.encoded.prefix(length)))
        try await first.set("new", for: "key")
        // That is when it hears of it.
        #expect(await second.get("other") == nil)
        #expect(await second.get("key")?.value == "new")
    }

    @Test("A wipe needs nothing that may have been cleaned up", arguments: 0..<3)
    func cleanedUp(way: Int) async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        // Most of the time it is empty.
        try FileManager.default.removeItem(atPath: folder.path + "/shared/writing")
        if way == 1 { try FileManager.default.removeItem(atPath: journal) }
        let other = way == 2 ? try open() : cache
        for _ in 0..<2 { try await other.wipe() }
        #expect(await cache.get("key") == nil)
    }

    @Test("After a wipe nobody tells of a key, also who hasn't heard of that yet")
    func keyAfterWipe() async throws {
        let (first, second) = (try open(), try open())
        try await first.set("value", for: "other")
        let late = second.ledger.permit(for: "key")
        let entry = second.ledger.entry("late")
        #expect(late.answer(entry) == nil)
        try await first.wipe()
        try await second.set(entry, for: "key", permit: late)
        #expect(try told().map(\.kind) == [.begun, .started, .follows, .allRemoved])
        #expect(await first.get("key") == nil)
    }

    @Test(
        "A wipe that can't begin a new one fails, as the old one tells of keys",
        arguments: [FileFault.Call.rename, .open])
    func oldOneStays(call: FileFault.Call) async throws {
        let files = FaultyFiles()
        let cache = try open(files, memory: nil)
        try await cache.set("value", for: "key")
        if call == .open { files.fail(nextOpening: .creating, EIO) } else { files.fail(next: call, EIO) }
        await #expect(throws: DiskCacheError.self) { try await cache.wipe() }
        #expect(folder.entries == [])
        func tells() throws -> Bool {
            try Data(contentsOf: URL(fileURLWithPath: journal)).range(of: Data(Digest(of: "key".utf8).bytes)) != nil
        }
        #expect(try tells())
        try await cache.wipe()
        #expect(try !tells())
    }
}
