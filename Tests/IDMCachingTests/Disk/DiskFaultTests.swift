import Foundation
import Testing

@testable import IDMCaching

/// Each call of the system fails in turn, and each way in which a file can be wrong is tried.
@Suite("A disk that fails", .timeLimit(.minutes(2)))
struct DiskFaultTests {
    private let folder: TemporaryFolder
    private let files = FaultyFiles()
    private let outcomes = Outcomes()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(
        entries: Int? = 2, durability: CacheDurability = .power,
        digest: @escaping @Sendable ([UInt8]) -> Digest = { Digest(of: $0) }
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: DiskBounds(bytes: nil, entries: entries),
            durability: durability, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 }, digest: digest)
    }

    /// Writes an entry, and says what went wrong.
    private func write(
        _ value: String, in cache: DiskCache<String, String>, for key: String = "key"
    ) async -> DiskCacheError? {
        do {
            try await cache.set(value, for: key)
            return nil
        } catch {
            return error as? DiskCacheError ?? .refused(call: "untyped: \(error)", code: 0)
        }
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
            let error = await write("new", in: cache)
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
            #expect(folder.unfinished.isEmpty || made.last == .remove, "\(made)")
            // And it goes on.
            #expect(await write("newer", in: cache) == nil)
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
            let error = await write("new \(call)", in: cache)
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

    @Test("Whichever call of a removal, a wipe or a cleaning fails, the error is typed, and a second try does it")
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
            let error = await write("new", in: cache, for: "c")
            let made = files.made
            files.fail(nil)
            #expect((await cache.get("c") == nil) == (error != nil), "\(made)")
            #expect(await write("newer", in: cache, for: "d") == nil)
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
            _ = await write("new", in: cache)
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

    @Test("A write that somebody else's wipe has caught is dropped, and no error", arguments: [nil, 2])
    func wipedByOther(bound: Int?) async throws {
        let cache = try DiskCache<String, String>(
            folder: folder.url, partition: nil, bounds: DiskBounds(entries: bound), memoryLimit: 2,
            durability: .process, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 })
        try await cache.set("old", for: "key")
        let other = DiskFolder(
            parents: [folder.path], path: folder.path + "/shared", bounds: DiskBounds(), isPowerSafe: false,
            files: POSIXFiles(), process: 1)
        files.beforeRename { #expect(throws: Never.self) { try other.removeAll() } }
        #expect(await write("new", in: cache) == nil)
        #expect(folder.files == [])
        #expect(await cache.get("key") == nil)
        #expect(outcomes.words == ["written key", "dropped key"])
        #expect(await write("newer", in: cache) == nil)
        #expect(await cache.get("key")?.value == "newer")
    }

    // MARK: Wrong files

    /// Puts something else in the place of the only entry, and reads it.
    private func damage(_ change: (String, [UInt8]) throws -> Void) async throws -> [String] {
        let cache = try open()
        try await cache.set("value", for: "key")
        let (path, bytes) = try folder.onlyEntry()
        try change(path, bytes)
        let before = outcomes.words.count
        #expect(await cache.get("key") == nil)
        let heard = Array(outcomes.words[before...])
        #expect(folder.entries == [])
        #expect(folder.damaged.count == 1)
        // What was moved aside is in nobody's way.
        #expect(await cache.get("key") == nil)
        try await cache.set("again", for: "key")
        #expect(await cache.get("key")?.value == "again")
        #expect(files.openFiles == 0)
        return heard
    }

    private func overwrite(_ path: String, _ bytes: some Sequence<UInt8>) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test("A damaged entry is a miss, is moved aside and told, and never served")
    func damaged() async throws {
        #expect(try await damage { try overwrite($0, $1.dropLast(3)) } == ["damaged key torn"])
        try await open().wipe()
        #expect(try await damage { path, _ in try overwrite(path, []) } == ["damaged key torn"])
        try await open().wipe()
        let flipped = try await damage { path, bytes in
            var bytes = bytes
            bytes[bytes.count - 2] ^= 4
            try overwrite(path, bytes)
        }
        #expect(flipped == ["damaged key checksum"])
        try await open().wipe()
        #expect(try await damage { path, _ in try overwrite(path, "{}".utf8) } == ["damaged key foreign"])
        try await open().wipe()
        let newer = try await damage { path, bytes in
            var bytes = bytes
            bytes[4] = 2
            try overwrite(path, bytes)
        }
        #expect(newer == ["damaged key newerVersion(2)"])
    }

    @Test("Of what was moved aside no more is kept than somebody would look at")
    func manyDamaged() async throws {
        let cache = try open(entries: nil)
        for key in 0..<40 { try await cache.set("value", for: "\(key)") }
        for path in folder.entries { try overwrite(path, [0]) }
        for key in 0..<40 { #expect(await cache.get("\(key)") == nil) }
        #expect(folder.damaged.count == DiskFolder.damagedLimit)
        #expect(outcomes.count("damaged") == 40)
    }

    @Test("A wipe removes all that it can, and tells what it could not")
    func partialWipe() async throws {
        let cache = try open(entries: nil)
        for key in 0..<4 { try await cache.set("value", for: "\(key)") }
        // The first call looks for names, the second removes the first of them.
        files.fail(1, EACCES)
        await #expect(throws: DiskCacheError.notPermitted) { try await cache.wipe() }
        #expect(folder.entries.count == 1)
    }

    @Test("A link in the place of an entry is not followed, and a folder, a pipe and a socket are not read")
    func notFiles() async throws {
        let secret = folder.path + "/target"
        let link = try await damage { path, bytes in
            try overwrite(secret, bytes)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: secret)
        }
        #expect(link == ["damaged key notAFile"])
        #expect(FileManager.default.fileExists(atPath: secret))
        try await open().wipe()
        let place = try await damage { path, _ in
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        #expect(place == ["damaged key notAFile"])
        // Not ours, so a wipe leaves it where it is.
        try await open().wipe()
        #expect(folder.damaged.count == 1)
        try FileManager.default.removeItem(atPath: folder.damaged[0])
        let pipe = try await damage { path, _ in
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
        }
        #expect(pipe == ["damaged key notAFile"])
    }

    @Test("An entry in another's place is not served, and one whose value can't be decoded is moved aside")
    func wrongContents() async throws {
        let other = try await damage { path, _ in
            let record = DiskRecord(
                digest: Digest(of: "other".utf8), time: 0, era: 0, key: Array("other".utf8), tags: [])
            try overwrite(path, try #require(record.file(with: "\"value\"".utf8)))
        }
        #expect(other == ["damaged key otherKey"])
        try await open().wipe()

        let undecodable = try await damage { path, _ in
            let record = DiskRecord(digest: Digest(of: "key".utf8), time: 0, era: 0, key: Array("key".utf8), tags: [])
            try overwrite(path, try #require(record.file(with: "17".utf8)))
        }
        #expect(undecodable == ["damaged key undecodable"])
    }

    @Test("The entry of another key with the same digest is not served, and stays until it is overwritten")
    func collision() async throws {
        let cache = try open(digest: { _ in Digest(of: "always".utf8) })
        try await cache.set("one", for: "first")
        #expect(await cache.get("second") == nil)
        #expect(await cache.get("first")?.value == "one")
        try await cache.set("two", for: "second")
        #expect(await cache.get("second")?.value == "two")
        #expect(await cache.get("first") == nil)
        #expect(outcomes.count("damaged") == 0)
    }

    // MARK: Folders

    @Test("A folder that goes away fails one write with a typed error, and is made again by the next")
    func vanished() async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        try FileManager.default.removeItem(at: folder.url)
        #expect(await cache.get("key") == nil)
        #expect(await write("new", in: cache) == .folderMissing)
        #expect(await write("new", in: cache) == nil)
        #expect(await cache.get("key")?.value == "new")
    }

    @Test("Where a file stands in the place of the folder, writes fail with a typed error, and reads find nothing")
    func notAFolder() async throws {
        try FileManager.default.removeItem(at: folder.url)
        try Data("file".utf8).write(to: folder.url)
        let cache = try open()
        #expect(await cache.get("key") == nil)
        #expect(await write("new", in: cache) == .notAFolder(folder.path + "/shared"))
    }

    @Test("What a killed process has left is swept up by the next one, and what others still write is not")
    func leftovers() async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        let writing = folder.path + "/shared/writing"
        for name in ["999999999-1-1", "\(getpid())-1-1", "foreign"] { try overwrite(writing + "/" + name, [1]) }
        try await open().set("value", for: "other")
        #expect(folder.unfinished.map { ($0 as NSString).lastPathComponent } == ["\(getpid())-1-1", "foreign"])
        try await cache.wipe()
        #expect(folder.files == [])
    }

    @Test("A value that can't be encoded fails the write, and the old entry stays")
    func unencodable() async throws {
        let cache = try DiskCache<String, Double>(folder: folder.url)
        try await cache.set(1, for: "key")
        await #expect(throws: DiskCacheError.self) { try await cache.set(.nan, for: "key") }
        #expect(await cache.get("key")?.value == 1)
    }
}
