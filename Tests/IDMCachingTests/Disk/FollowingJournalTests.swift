import Foundation
import IDMCore
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

/// Which journal is the one that all have, and what of it still means something.
@Suite("Journals that follow one another", .offThePool, .timeLimit(.ample))
struct FollowingJournalTests: PartitionTests {
    let partition: Partition

    init() throws {
        partition = try Partition()
    }

    @Test("Files that aren't known again let nobody go round for ever")
    func unknown() async throws {
        let files = FaultyFiles()
        files.numberAnew()
        let cache = try open(files, memory: nil)
        await #expect(throws: DiskCacheError.self) { try await cache.set("value", for: "key") }
        #expect(files.openFiles == 0)
    }

    @Test("Where names can't be counted, memory isn't asked, and the disk is")
    func noLinks() async throws {
        let files = FaultyFiles()
        files.countNoNames()
        let cache = try open(files, memory: 4)
        try await cache.set("value", for: "key")
        #expect(await cache.get("key")?.value == "value")
        #expect(await cache.get("key")?.value == "value")
        #expect(files.openFiles == 0)
    }

    @Test(
        "What was told before the machine was started keeps nobody from writing, and what was told since does",
        arguments: [DiskChange.Kind.written, .removed, .tagRemoved, .allRemoved, .follows], [false, true])
    func earlierStart(kind: DiskChange.Kind, isOfThisStart: Bool) async throws {
        let cache = try open()
        try await cache.set("old", for: "key", tags: ["tag"])
        let late = cache.ledger.permit(for: "key")
        let entry = cache.ledger.entry("late", tags: ["tag"])
        var told = DiskChange(kind: kind, time: MachineTime.now)
        told.subject = Digest(of: kind == .tagRemoved ? "tag".utf8 : "key".utf8)
        var start = DiskChange(kind: .started, subject: .random, time: MachineTime.now)
        // What is told last would have to be there.
        let lost = DiskChange(kind: .lost, subject: told.subject, time: MachineTime.now)
        try tell(start.encoded + told.encoded + lost.encoded)
        if isOfThisStart {
            start.subject = MachineStart.digest
            try tell(start.encoded + told.encoded + lost.encoded)
        }
        try await cache.set(entry, for: "key", permit: late)
        #expect(await cache.get("key")?.value == (isOfThisStart ? nil : "late"))
    }

    @Test("What may have been told since the machine was started counts, where the system doesn't tell")
    func unknownStart() async throws {
        let (own, other) = (Digest(of: [1]), Digest(of: [2]))
        #expect(MachineStart.isEarlier(nil, than: own) && MachineStart.isEarlier(other, than: own))
        #expect(!MachineStart.isEarlier(own, than: own) && !MachineStart.isEarlier(.zero, than: own))
        #expect(!MachineStart.isEarlier(other, than: .zero) && !MachineStart.isEarlier(.zero, than: .zero))
        let cache = try open()
        try await cache.set("old", for: "key")
        let late = cache.ledger.permit(for: "key")
        let entry = cache.ledger.entry("late")
        let told = DiskChange(kind: .removed, subject: Digest(of: "key".utf8), time: MachineTime.now)
        try tell(DiskChange(kind: .started, time: MachineTime.now).encoded + told.encoded)
        try await cache.set(entry, for: "key", permit: late)
        #expect(await cache.get("key") == nil)
        // What it tells itself is not to be taken for something that nobody knows the time of.
        try await cache.set("new", for: "key")
        #expect(try self.told().last { $0.kind == .started }?.subject == MachineStart.digest)
    }

    @Test("What is so long that nobody could have written it is skipped, and begun anew")
    func endless() async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        #expect(await cache.get("key")?.value == "old")
        let late = cache.ledger.permit(for: "key")
        let entry = cache.ledger.entry("late")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
        try file.truncate(atOffset: 1 << 40)
        try file.close()
        // Who knows what has been told there.
        try await cache.set(entry, for: "key", permit: late)
        #expect(await cache.get("key") == nil)
        try await cache.set("new", for: "key")
        #expect(await cache.get("key")?.value == "new")
        #expect(try await open().get("key")?.value == "new")
        #expect(try told().count < 10)
    }

    /// Another process.
    private struct Stranger: Sendable {
        let folder: DiskFolder
        let journal: String

        func write(_ key: Int) throws {
            var record = DiskRecord(key: "\(key)")
            record.asked = MachineTime.now
            let order = WriteOrder(digest: record.digest, tags: [], asked: record.asked)
            _ = try folder.write(#require(record.file(with: [])), order, if: { true }, orClearIf: { false })
        }

        func lengthen(to length: Int) throws {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
            try file.truncate(atOffset: UInt64(length))
            try file.close()
        }
    }

    enum Gap: CaseIterable, Sendable { case garbage, manyChanges, missedJournal }

    @Test("A waiting write lands although the journal lost the changes of that time", arguments: Gap.allCases)
    func unknownOrder(gap: Gap) async throws {
        let (files, other) = (FaultyFiles(), try open(memory: nil))
        let cache = try open(files)
        for key in ["key", "other"] { try await cache.set("old", for: key) }
        let theirs = Stranger(folder: folder.elsewhere, journal: journal)
        let late = cache.ledger.permit(for: "other")
        files.before(next: .lock) {
            #expect(throws: Never.self) {
                switch gap {
                case .garbage: try theirs.lengthen(to: 2 * DiskJournal.readableLength)
                case .manyChanges: for key in 0...OthersChanges.limit { try theirs.write(key) }
                case .missedJournal:
                    for key in 0..<2 {
                        try theirs.lengthen(to: DiskJournal.greatestLength)
                        try theirs.write(key)
                    }
                }
            }
        }
        try await cache.set("new", for: "key")
        for cache in [cache, other] { #expect(await cache.get("key")?.value == "new") }
        // An answer to an earlier question is not: it could be of any age.
        await cache.keep(cache.ledger.entry("late"), for: "other", permit: late)
        #expect(await other.get("other") == nil)
        #expect(outcomes.count("failed") == 0)
    }

    @Test("Lengths are added as far as they go")
    func lengths() {
        #expect(Int.max.addingSaturating(1) == .max && Int.min.addingSaturating(-1) == .min)
        #expect(Int.max.addingSaturating(-1) == .max - 1 && 1.addingSaturating(1) == 2)
    }

    @Test("Who tells something first since the machine was started says so, once, and who only reads says nothing")
    func saysStart() async throws {
        let cache = try open()
        try await cache.set("any", for: "any")
        try tell(DiskChange(kind: .started, subject: .random, time: MachineTime.now).encoded)
        let other = try open()
        #expect(await other.get("any")?.value == "any")
        for key in 0..<2 { try await other.set("value", for: "\(key)") }
        try await cache.set("value", for: "2")
        let told = try told()
        let kinds: [DiskChange.Kind] = [
            .begun, .started, .follows, .written, .started, .started, .written, .written, .written,
        ]
        #expect(told.map(\.kind) == kinds)
        #expect(told[1].subject == MachineStart.digest && told[5].subject == MachineStart.digest)
    }

    @Test("A wipe of what has got long begins one new journal, which tells of it")
    func longWipe() async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
        try file.truncate(atOffset: UInt64(DiskJournal.greatestLength))
        try file.close()
        try await cache.wipe()
        #expect(try told().map(\.kind) == [.begun, .started, .follows, .allRemoved])
    }

    /// Gives the journal a second name, as a copy made of links does.
    private func link() throws {
        try FileManager.default.linkItem(atPath: journal, toPath: folder.path + "/copy \(UUID())")
    }

    @Test("Caches go on together after a copy was made of links", arguments: [false, true])
    func linked(isRemoved: Bool) async throws {
        let (first, second) = (try open(), try open())
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        try link()
        if isRemoved { try FileManager.default.removeItem(atPath: journal) } else { try await first.wipe() }
        try await first.set("new", for: "key")
        let third = try open()
        #expect(await third.get("key")?.value == "new")
        try await second.set("other", for: "other")
        #expect(await second.get("key")?.value == "new")
        try await third.set("newer", for: "key")
        for cache in [first, second] { #expect(await cache.get("key")?.value == "newer") }
        try await second.set("newest", for: "key")
        for cache in [first, third] { #expect(await cache.get("key")?.value == "newest") }
    }

    @Test(
        "A cache that has read all of a journal sees that another has its place, whatever names the old one has",
        arguments: [false, true])
    func linkedLong(isLong: Bool) throws {
        let (first, second) = (folder.elsewhere, folder.elsewhere)
        let write = WriteOrder(digest: Digest(of: "key".utf8), tags: [], asked: 1)
        _ = try first.write([1], write, if: { true }, orClearIf: { false })
        for cache in [first, second] {
            try cache.hold(cache.open()) {}
            #expect(cache.journal.isCurrent)
        }
        try link()
        if isLong {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
            try file.truncate(atOffset: UInt64(DiskJournal.greatestLength) + 1)
            try file.close()
        }

        try second.hold(second.open()) {}

        #expect(!first.journal.isCurrent)
        for cache in [first, second] {
            try cache.hold(cache.open()) {}
            #expect(cache.journal.isCurrent)
        }
    }
}
