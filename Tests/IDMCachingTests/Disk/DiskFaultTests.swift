import Foundation
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

/// Each call of the system fails in turn.
@Suite("A disk that fails", .offThePool, .timeLimit(.ample))
struct DiskFaultTests {
    private let folder: TemporaryFolder
    private let files = FaultyFiles()
    private let outcomes = Outcomes()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(
        entries: Int? = 2, durability: CacheDurability = .power
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(entries: entries),
            durability: durability, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 })
    }

    private func remembering(_ bound: Int?) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(entries: bound), memoryLimit: 2,
            durability: .process, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 })
    }

    private static let codes: [(Int32, DiskCacheError?)] = [
        (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EROFS, .notPermitted), (EACCES, .notPermitted),
        (EMFILE, .tooManyOpenFiles), (ENFILE, .tooManyOpenFiles), (EIO, nil),
    ]

    @Test(
        "Whichever call of a write fails, the entry is the whole old or the whole new one, and nothing is left behind",
        arguments: codes.map(\.0), [false, true])
    func writes(code: Int32, isFirst: Bool) async throws {
        let expected = Self.codes.first { $0.0 == code }?.1
        var call = 0
        while true {
            let folder = try TemporaryFolder()
            let cache = try DiskCache<String, String>(
                folder: folder.url, partition: nil, bounds: DiskBounds(entries: 2), durability: .power, coding: .json,
                ledger: CacheLedger(), files: files, text: { $0 })
            if !isFirst { try await cache.set("old", for: "key") }
            files.fail(call, code)
            let error = await cache.error(ofWriting: "new")
            let made = files.made
            files.fail(nil)

            let found = await cache.get("key")?.value
            if error == nil {
                #expect(found == "new")
            } else {
                #expect(found == "new" || found == (isFirst ? nil : "old"), "\(made)")
                if let expected { #expect(error == expected, "\(made)") }
            }
            #expect(files.openFiles == 0, "\(made)")
            #expect(folder.unfinished.isEmpty || made[call] == .remove, "\(made)")
            // And it goes on.
            #expect(await cache.error(ofWriting: "newer") == nil)
            #expect(await cache.get("key")?.value == "newer")
            if made.count <= call { break }
            call += 1
        }
        #expect(call > 8)
    }

    @Test("A disk that dies at any call of a write loses nothing that was there")
    func dies() async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        var call = 0
        while true {
            files.fail(call, EIO, staysDead: true)
            let error = await cache.error(ofWriting: "new \(call)")
            let calls = files.made.count
            files.fail(nil)
            if calls <= call { break }
            let found = try #require(await open().get("key")?.value)
            #expect(found == "old" || found.hasPrefix("new"), "\(call): \(String(describing: error))")
            #expect(files.openFiles == 0)
            call += 1
        }
        #expect(call > 5)
    }

    @Test("Whichever call of a read fails, it is a miss and no error, and the entry is there afterwards")
    func reads() async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        var call = 0
        while true {
            files.fail(call, EMFILE)
            let found = await cache.get("key")
            let made = files.made
            files.fail(nil)
            #expect(found == nil || found?.value == "value", "\(made)")
            #expect(await cache.get("key")?.value == "value", "\(made)")
            #expect(files.openFiles == 0, "\(made)")
            if made.count <= call { break }
            call += 1
        }
        #expect(call > 3)
        #expect(outcomes.words.contains("failed key Too many files are open."))
        #expect(outcomes.count("damaged") == 0)
    }

    @Test("Whichever call of a removal, by key, by tag or of all, fails, the error is typed, and a second try does it")
    func removals() async throws {
        let ways: [@Sendable (DiskCache<String, String>) async throws -> Void] = [
            { try await $0.remove("key") }, { try await $0.removeAll(tagged: "tag") }, { try await $0.wipe() },
        ]
        for way in ways {
            var call = 0
            while true {
                let cache = try open()
                try await cache.set("value", for: "key", tags: ["tag"])
                files.fail(call, EIO)
                await #expect(throws: Never.self) {
                    do { try await way(cache) } catch is DiskCacheError {}
                }
                let calls = files.made.count
                files.fail(nil)
                try await way(cache)
                #expect(await cache.get("key") == nil)
                #expect(files.openFiles == 0)
                if calls <= call { break }
                call += 1
            }
            #expect(call > 3)
        }
    }

    @Test(
        "Whichever call of a removal by tag fails, it is told, or the entry has gone", arguments: [EIO, EMFILE, EACCES])
    func tagRemoval(code: Int32) async throws {
        let cache = try open(entries: nil, durability: .process)
        var call = 0
        while true {
            try await cache.set("value", for: "key", tags: ["tag"])
            files.fail(call, code)
            let isTold = await (try? cache.removeAll(tagged: "tag")) == nil
            let made = files.made
            files.fail(nil)
            let isThere = await cache.get("key") != nil
            #expect(isTold || !isThere, "\(made)")
            if made.count <= call { break }
            call += 1
        }
        #expect(call > 4)
    }

    @Test("Whichever call of an eviction fails, the entry that was written stays, and the next write keeps the bounds")
    func evictions() async throws {
        var call = 0
        while true {
            let folder = try TemporaryFolder()
            let cache = try DiskCache<String, String>(
                folder: folder.url, partition: nil, bounds: DiskBounds(entries: 2), durability: .process,
                coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files, text: { $0 })
            for key in ["a", "b"] { try await cache.set("old", for: key) }
            files.fail(call, EIO)
            let error = await cache.error(ofWriting: "new", for: "c")
            let made = files.made
            files.fail(nil)
            #expect((await cache.get("c") == nil) == (error != nil), "\(made)")
            #expect(await cache.error(ofWriting: "newer", for: "d") == nil)
            #expect(await cache.get("d")?.value == "newer", "\(made)")
            #expect(folder.entries.count <= 2, "\(made)")
            #expect(files.openFiles == 0, "\(made)")
            if made.count <= call { break }
            call += 1
        }
        #expect(call > 8)
        #expect(outcomes.count("failed ? ") >= 2)
    }

    @Test("Whichever call of a write fails, memory doesn't say other than the disk")
    func writesWithMemory() async throws {
        var call = 0
        while true {
            let cache = try DiskCache<String, String>(
                folder: folder.url, partition: nil, bounds: DiskBounds(), memoryLimit: 2, durability: .power,
                coding: .json, ledger: CacheLedger(), files: files, text: { $0 })
            try await cache.set("old", for: "key")
            files.fail(call, EIO)
            _ = await cache.error(ofWriting: "new")
            let made = files.made
            files.fail(nil)
            #expect(try await cache.get("key") == open().get("key"), "\(made)")
            if made.count <= call { break }
            call += 1
        }
        #expect(call > 5)
    }

    @Test("What shall survive that the power goes is synchronized: files, the folders that name them, and removals")
    func synchronized() async throws {
        let cache = try DiskCache<String, String>(
            folder: folder.url.appendingPathComponent("a/b"), partition: nil, bounds: DiskBounds(),
            durability: .power, coding: .json, ledger: CacheLedger(), files: files, text: { $0 })
        func synchronizations(_ work: () async throws -> Void) async rethrows -> Int {
            files.fail(nil)
            try await work()
            return files.made.count { $0 == .synchronize }
        }
        // Two folders were made for it, and the partition's own.
        #expect(try await synchronizations { try await cache.set("value", for: "key", tags: ["tag"]) } == 5)
        #expect(try await synchronizations { try await cache.set("value", for: "key", tags: ["tag"]) } == 2)
        #expect(try await synchronizations { try await cache.remove("key") } == 1)
        try await cache.set("value", for: "key", tags: ["tag"])
        #expect(try await synchronizations { try await cache.removeAll(tagged: "tag") } == 1)
        #expect(try await synchronizations { try await cache.wipe() } >= 1)
    }

    @Test("Reads and writes that do a little at a time come to the same")
    func shortCalls() async throws {
        files.shorten()
        let cache = try open()
        let value = String(repeating: "value ", count: 100)
        try await cache.set(value, for: "key")
        #expect(await cache.get("key")?.value == value)
    }

    @Test("A write that was asked for before somebody else's wipe is dropped, and no error", arguments: [nil, 2])
    func wipedByOther(bound: Int?) async throws {
        let cache = try remembering(bound)
        try await cache.set("old", for: "key")
        let other = folder.elsewhere
        files.before(next: .lock) { #expect(throws: Never.self) { try other.removeAll(asked: MachineTime.now) } }
        #expect(await cache.error(ofWriting: "new") == nil)
        #expect(folder.files == [])
        #expect(await cache.get("key") == nil)
        #expect(outcomes.words == ["written key", "dropped key"])
        #expect(await cache.error(ofWriting: "newer") == nil)
        #expect(await cache.get("key")?.value == "newer")
    }

    /// Takes what is being written away, as a wipe does, before each of so many attempts to put it into its place.
    private func takeAway(_ times: Int) {
        guard times > 0 else { return }
        files.before(next: .rename) {
            for path in folder.unfinished { try? FileManager.default.removeItem(atPath: path) }
            takeAway(times - 1)
        }
    }

    @Test("A write requested after a wipe is repeated if the wipe took its file")
    func takenAway() async throws {
        let cache = try remembering(nil)
        try await cache.set("old", for: "key")
        for times in [1, 2, 5] {
            takeAway(times)
            #expect(await cache.error(ofWriting: "new \(times)") == nil)
            #expect(await cache.get("key")?.value == "new \(times)")
        }
        // An answer to a question isn't written for ever.
        takeAway(2)
        await cache.keep(cache.ledger.entry("answer"), for: "key", permit: cache.ledger.permit(for: "key"))
        #expect(await cache.get("key")?.value == "new 5")
        #expect(outcomes.words.last == "dropped key")
    }

    @Test("A wipe removes all that it can, and tells what it could not")
    func partialWipe() async throws {
        let cache = try open(entries: nil)
        for key in 0..<4 { try await cache.set("value", for: "\(key)") }
        files.fail(next: .remove, EACCES)
        await #expect(throws: DiskCacheError.notPermitted) { try await cache.wipe() }
        #expect(folder.entries.count == 1)
    }

    @Test("On a full disk entries can be removed nevertheless, and others hear of it", arguments: 0..<3)
    func fullDisk(way: Int) async throws {
        let cache = try open(entries: nil, durability: .process)
        let other = try DiskCache<String, String>(folder: folder.url, memoryLimit: 2)
        try await cache.set("value", for: "key", tags: ["tag"])
        #expect(await other.get("key")?.value == "value")
        let late = other.ledger.permit(for: "key")
        files.fillUp()
        #expect(await cache.error(ofWriting: "new") == .noSpace)
        switch way {
        case 0: try await cache.remove("key")
        case 1: try await cache.removeAll(tagged: "tag")
        default: try await cache.wipe()
        }
        #expect(folder.entries == [])
        #expect(await other.get("key") == nil)
        try await other.set(other.ledger.entry("late", tags: ["tag"]), for: "key", permit: late)
        #expect(await other.get("key") == nil)
        #expect(await cache.error(ofWriting: "newer") == nil)
        #expect(files.openFiles == 0)
    }

    @Test("A wipe that can't be told to others removes what is there nevertheless, and fails")
    func untoldWipe() async throws {
        let cache = try open(entries: nil, durability: .process)
        try await cache.set("value", for: "key")
        files.fillUp(forGood: true)
        await #expect(throws: DiskCacheError.noSpace) { try await cache.wipe() }
        #expect(folder.entries == [])
    }

    @Test("A value that can't be encoded fails the write, the old entry stays, and the error doesn't tell the value")
    func unencodable() async throws {
        struct Account: Codable, Sendable {
            var name = ["owner": 1.5]
            var balances: [Double] = []
        }
        let cache = try DiskCache<String, Account>(folder: folder.url)
        try await cache.set(Account(), for: "key")
        let bad = [
            (Account(balances: [1, .infinity]), "Account.balances[1], which is Double"),
            (Account(name: ["secret": .nan]), "Account.name.…, which is Double"),
        ]
        for (value, reason) in bad {
            await #expect(throws: DiskCacheError.notEncodable(reason)) { try await cache.set(value, for: "key") }
        }
        #expect(await cache.get("key")?.value.balances == [])

        struct Secret: Codable, Sendable, Error, CustomStringConvertible {
            var description: String { "secret" }
            func encode(to encoder: any Encoder) throws { throw self }
        }
        let secrets = try DiskCache<String, Secret>(folder: folder.url)
        await #expect(throws: DiskCacheError.notEncodable("Secret: Secret")) {
            try await secrets.set(Secret(), for: "key")
        }
    }

    // MARK: Folders

    @Test("A folder that goes away fails one write with a typed error, and is made again by the next")
    func vanished() async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        try FileManager.default.removeItem(at: folder.url)
        #expect(await cache.get("key") == nil)
        #expect(await cache.error(ofWriting: "new") == .folderMissing)
        #expect(await cache.error(ofWriting: "new") == nil)
        #expect(await cache.get("key")?.value == "new")
    }

    @Test("Where a file stands in the place of the folder, writes fail with a typed error, and reads find nothing")
    func notAFolder() async throws {
        try FileManager.default.removeItem(at: folder.url)
        try Data("file".utf8).write(to: folder.url)
        let cache = try open()
        #expect(await cache.get("key") == nil)
        #expect(await cache.error(ofWriting: "new") == .notAFolder(folder.path + "/shared"))
    }

    @Test("What a killed process has left is swept up by the next one, and what others still write is not")
    func leftovers() async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        let writing = folder.path + "/shared/writing"
        let (own, parent) = (FileOwner(getpid()), FileOwner(getppid()))
        let kept = ["\(own)-1-1", "\(parent)-1-1", "\(getpid())-1-1", "foreign", "1.2-1-1"]
        // The process of each has ended: there is none of its number, or that is another one by now.
        let gone = ["999999999-1-1", "999999999.1.1-1-1", "\(getpid()).1.1-1-1", "\(getppid()).1.1-1-changes"]
        for name in kept + gone { try Data([1]).write(to: URL(fileURLWithPath: writing + "/" + name)) }
        try await open().set("value", for: "other")
        #expect(Set(folder.unfinished.map { ($0 as NSString).lastPathComponent }) == Set(kept))
        try await cache.wipe()
        #expect(folder.files == [])
    }
}
