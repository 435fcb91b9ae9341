import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

/// Two caches of one partition, which know no more of one another than two processes do.
@Suite("Caches that share a partition", .fewAtOnce, .timeLimit(.ample))
struct SharedPartitionTests: PartitionTests {
    let partition: Partition

    init() throws {
        partition = try Partition()
    }

    @Test("What one has written the other reads, also what the other has in memory", arguments: [nil, 10])
    func written(memory: Int?) async throws {
        let (first, second) = (try open(memory: memory), try open(memory: memory))
        for round in 0..<5 {
            try await first.set("first \(round)", for: "key")
            #expect(await second.get("key")?.value == "first \(round)")
            try await second.set("second \(round)", for: "key")
            #expect(await first.get("key")?.value == "second \(round)")
        }
    }

    @Test("What one removes the other doesn't serve from memory", arguments: 0..<4)
    func removed(way: Int) async throws {
        let (first, second) = (try open(), try open())
        try await first.set("value", for: "key", tags: ["tag"])
        try await first.set("other", for: "other")
        for cache in [first, second] {
            for key in ["key", "other"] { #expect(await cache.get(key) != nil) }
        }
        switch way {
        case 0: try await first.remove("key")
        case 1: try await first.invalidate(tag: "tag")
        case 2: try await first.wipe()
        default:
            // As a cleaning does, or a user with a file manager: the other has it in memory alone.
            for path in folder.entries { try FileManager.default.removeItem(atPath: path) }
            try await first.invalidateAll()
        }
        #expect(await second.get("key") == nil)
        #expect((await second.get("other") != nil) == (way < 2))
    }

    @Test("What one was asked for before the other's removal doesn't land after it", arguments: 0..<3)
    func late(way: Int) async throws {
        let (first, second) = (try open(), try open())
        try await second.set("old", for: "key", tags: ["tag"])
        let permit = second.ledger.permit(for: "key")
        let entry = second.ledger.entry("late", tags: ["tag"])
        let free = second.ledger.permit(for: "other")
        switch way {
        case 0: try await first.remove("key")
        case 1: try await first.invalidate(tag: "tag")
        default: try await first.wipe()
        }
        try await second.set(entry, for: "key", permit: permit)
        try await second.set(second.ledger.entry("free"), for: "other", permit: free)
        #expect(await second.get("key") == nil)
        #expect(await first.get("key") == nil)
        #expect((await first.get("other") != nil) == (way < 2))
        // What is asked for afterwards lands.
        try await second.set("new", for: "key", tags: ["tag"])
        #expect(await first.get("key")?.value == "new")
    }

    @Test("An answer that was heard and then invalidated leaves nothing older behind, and keeps nothing newer out")
    func revoked() async throws {
        let (first, second) = (try open(), try open())
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        let older = second.ledger.permit(for: "key")
        let permit = first.ledger.permit(for: "key")
        let newer = second.ledger.permit(for: "key")
        let entry = first.ledger.entry("new", tags: ["new"])
        #expect(permit.answer(entry) == nil)
        // The tag is the new one's alone.
        try await first.invalidate(tag: "new")
        #expect(await first.get("key")?.value == "old")

        try await first.set(entry, for: "key", permit: permit)
        #expect(await first.get("key") == nil)
        #expect(await second.get("key") == nil)
        try await second.set(second.ledger.entry("older"), for: "key", permit: older)
        #expect(await second.get("key") == nil)
        try await second.set(second.ledger.entry("newer"), for: "key", permit: newer)
        for cache in [first, second] { #expect(await cache.get("key")?.value == "newer") }
    }

    @Test("An answer that was heard and that another has invalidated leaves nothing older behind", arguments: 0..<3)
    func revokedByAnother(way: Int) async throws {
        let (first, second) = try await settled {
            let (first, second) = (try open(), try open())
            try await first.set("old", for: "key")
            #expect(await second.get("key")?.value == "old")
            let remote = ControlledDataProvider<String, String>()
            let provider = remote.cached(in: first, policy: .remoteOnly, tags: { _, _ in ["new"] })
            let heard = Task { try await provider.request("key") }
            let request = try await remote.waitForRequest()
            switch way {
            case 0: try await second.invalidate(tag: "new")
            case 1: try await second.invalidate("key")
            // More than are told apart: it is too late for the latest of them.
            default: for tag in 0...OthersChanges.limit { try await second.invalidate(tag: "\(tag)") }
            }
            request.answer("new")
            #expect(try await heard.value == "new")
            await #expect(throws: CachingError.self) { try await provider.policy(.cacheOnly).request("key") }
            for cache in [first, second] { #expect(await cache.get("key") == nil) }
            return (first, second)
        }
        #expect(first.ledger.isEmpty)
        try await second.set("newer", for: "key", tags: ["new"])
        for cache in [first, second] { #expect(await cache.get("key")?.value == "newer") }
    }

    @Test("What was asked for before another's removal, and is none of its business, lands after it")
    func untouched() async throws {
        let (first, second) = (try open(), try open())
        try await first.set("tagged", for: "key", tags: ["tag"])
        let older = second.ledger.permit(for: "key")
        try await first.invalidate(tag: "tag")
        // It bears no tag. In the first cache it would land, and so it has to here: somebody may have heard it.
        try await second.set(second.ledger.entry("untagged"), for: "key", permit: older)
        for cache in [first, second] { #expect(await cache.get("key")?.value == "untagged") }
    }

    @Test("What is asked for while another's removal waits for its turn lands after it", arguments: 0..<3)
    func meanwhile(way: Int) async throws {
        let files = FaultyFiles()
        let first = try open(files), second = try open()
        try await first.set("old", for: "key", tags: ["tag"])
        #expect(await second.get("key")?.value == "old")
        let asked = Shared<CachePermit<String, String>?>(nil)
        files.before(next: .lock) { asked.value = second.ledger.permit(for: "key") }
        switch way {
        case 0: try await first.remove("key")
        case 1: try await first.removeAll(tagged: "tag")
        default: try await first.removeAll()
        }
        let permit = try #require(asked.value)
        try await second.set(second.ledger.entry("new", tags: ["tag"]), for: "key", permit: permit)
        for cache in [first, second] { #expect(await cache.get("key")?.value == "new") }
    }

    @Test("What was asked for after an invalidation lands, though that came while an older answer was written")
    func askedAfterwards() async throws {
        let files = FaultyFiles()
        let cache = try open(files)
        let permit = cache.ledger.permit(for: "key")
        let entry = cache.ledger.entry("new", tags: ["new"])
        #expect(permit.answer(entry) == nil)
        let later = Shared<CachePermit<String, String>?>(nil)
        // It is on the disk, and not yet in memory.
        files.before(next: .unlock) {
            cache.ledger.invalidate(tag: "new")
            later.value = cache.ledger.permit(for: "key")
        }
        await cache.keep(entry, for: "key", permit: permit)
        try await cache.removeAll(tagged: "new")
        let asked = try #require(later.value)
        let newer = cache.ledger.entry("newer")
        #expect(asked.answer(newer) == nil)
        await cache.keep(newer, for: "key", permit: asked)
        #expect(await cache.get("key")?.value == "newer")
    }

    @Test("An older question's answer doesn't take the place of a newer one's, whichever cache they came through")
    func order() async throws {
        let (first, second) = (try open(), try open())
        let older = first.ledger.permit(for: "key")
        let newer = second.ledger.permit(for: "key")
        try await second.set(second.ledger.entry("newer"), for: "key", permit: newer)
        try await first.set(first.ledger.entry("older"), for: "key", permit: older)
        for cache in [first, second, try open()] { #expect(await cache.get("key")?.value == "newer") }
        #expect(outcomes.count("failed") == 0)
    }

    @Test("What another has written since is heard, though somebody here still waits for an answer")
    func newerThanTheLastAnswer() async throws {
        let (first, second) = (try open(), try open())
        let here = StubDataProvider<String, String>(failing: CachingError.noEntry).cached(in: first, policy: .cacheOnly)
        let waiting = first.ledger.permit(for: "key")
        try await first.set("one", for: "key")
        #expect(try await here.request("key") == "one")
        try await second.set("two", for: "key")
        #expect(try await here.request("key") == "two")

        // The same where the answer here was too late to be written.
        let remote = ControlledDataProvider<String, String>()
        let late = Task { try await remote.cached(in: first, policy: .remoteOnly).request("key") }
        let request = try await remote.waitForRequest()
        try await second.set("three", for: "key")
        request.answer("older")
        _ = try await late.value
        #expect(outcomes.words.suffix(2).first == "dropped key" || outcomes.words.last == "dropped key")
        #expect(try await here.request("key") == "three")
        withExtendedLifetime(waiting) {}
    }

    @Test("What a cache was not there to hear doesn't keep it from writing")
    func opensLater() async throws {
        let first = try open()
        for key in 0..<50 { try await first.set("first", for: "\(key)") }
        try await first.remove("7")
        let second = try open()
        for key in 0..<50 { try await second.set("second", for: "\(key)") }
        for key in 0..<50 { #expect(await first.get("\(key)")?.value == "second") }
    }

    @Test("The bounds count what all have written, and no one passes its own by what another writes")
    func bounds() async throws {
        let caches = try (0..<3).map { _ in try open(memory: nil, entries: 20) }
        for key in 0..<90 {
            try await caches[key % 3].set("value", for: "\(key)")
            #expect(folder.entries.count <= 20)
            #expect(await caches[(key + 1) % 3].get("\(key)") != nil)
        }
        #expect(folder.entries.count >= 17)
    }

    @Test("A wipe leaves nothing that tells of a key")
    func wipeLeavesNothing() async throws {
        let cache = try open()
        for key in 0..<5 { try await cache.set("value", for: "\(key)") }
        let late = cache.ledger.permit(for: "late")
        try await cache.wipe()
        // Nor does what was asked for before and is answered afterwards.
        let entry = cache.ledger.entry("late")
        #expect(late.answer(entry) == nil)
        try await cache.set(entry, for: "late", permit: late)
        #expect(folder.files == [])
        let journal = try Data(contentsOf: URL(fileURLWithPath: #require(folder.journals.first)))
        #expect(DiskChange.all(in: Array(journal)).map(\.kind) == [.begun, .started, .follows, .allRemoved])
    }

    @Test("However many changes were heard, only what was asked for before one of them is too late")
    func manyChanges() {
        var others = OthersChanges()
        func digest(_ key: Int) -> Digest { Digest(of: "\(key)".utf8) }
        func verdict(_ key: Int, tags: [String] = [], asked: Int64) -> OthersChanges.Verdict {
            others.verdict(on: WriteOrder(digest: digest(key), tags: tags, asked: asked))
        }
        for key in 0..<5_000 { others.hear(DiskChange(kind: .written, subject: digest(key), time: Int64(key))) }
        for key in 0..<5_000 {
            #expect(verdict(key, asked: 5_000) == .free)
            #expect(verdict(key, asked: Int64(key) - 1) != .free)
        }
        // The first ones are not told apart any more: what is in the place of one may be older.
        #expect(verdict(4_999, asked: 4_998) == .overtaken && verdict(7, asked: 6) == .unknown)
        others.hear(DiskChange(kind: .tagRemoved, subject: digest(1), time: 6_000))
        #expect(verdict(7, tags: ["0", "1"], asked: 5_999) == .invalidated)
        #expect(verdict(7, tags: ["0"], asked: 5_999) == .free)
        others.hear(DiskChange(kind: .allRemoved, time: 7_000))
        #expect(verdict(9_999, asked: 6_999) == .invalidated)
        #expect(verdict(9_999, asked: 7_000) == .free)
    }

    @Test(
        "What another has written stays, though it was forgotten among a great many, where an older answer comes",
        arguments: [false, true])
    func newerAmongMany(isOutOfDescriptors: Bool) async throws {
        let files = FaultyFiles()
        let (first, second) = (try open(files), try open(memory: nil))
        try await first.set("before", for: "key")
        let older = first.ledger.permit(for: "key")
        try await second.set("newer", for: "key")
        for number in 0...OthersChanges.limit { try await second.set("other", for: "\(number)") }
        // A write that is told last is looked for.
        try await second.invalidate(tag: "none")
        // What can't be looked at isn't removed either.
        if isOutOfDescriptors { files.before(next: .lock) { files.fail(next: .open, EMFILE) } }
        await first.keep(first.ledger.entry("older"), for: "key", permit: older)
        #expect(await second.get("key")?.value == "newer")
        #expect(outcomes.count("failed key") == (isOutOfDescriptors ? 1 : 0))
    }

    @Test(
        "Something of any length in the place of an entry is replaced and removed as others are",
        arguments: [false, true])
    func hugeForeign(isRemoved: Bool) async throws {
        let (first, second) = (try open(), try open())
        try await first.set("old", for: "key")
        #expect(await second.get("key")?.value == "old")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: #require(folder.entries.first)))
        try file.truncate(atOffset: UInt64(DiskRecord.greatestLength) * 2)
        try file.close()
        let late = second.ledger.permit(for: "key")
        if isRemoved { try await first.remove("key") } else { try await first.set("new", for: "key") }
        #expect(await second.get("key")?.value == (isRemoved ? nil : "new"))
        try await second.set(second.ledger.entry("late"), for: "key", permit: late)
        #expect(await first.get("key")?.value == (isRemoved ? nil : "new"))
    }
}
