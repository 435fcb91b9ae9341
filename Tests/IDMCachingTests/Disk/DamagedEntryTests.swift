import Foundation
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

/// Each way in which a file can be wrong is tried, and what stands in the place of one.
@Suite("Entries that are damaged", .fewAtOnce, .timeLimit(.ample))
struct DamagedEntryTests {
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
            folder: folder.url, partition: nil, bounds: DiskBounds(entries: entries),
            durability: durability, coding: .json, ledger: CacheLedger(onOutcome: outcomes.hook()), files: files,
            text: { $0 }, digest: digest)
    }

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

    @Test(
        "Files that say they come from far centuries are files like others",
        arguments: [10_413_792_000, -11_676_096_000])
    func farTimes(seconds: Int) async throws {
        let cache = try open()
        try await cache.set("value", for: "key")
        let time = Date(timeIntervalSince1970: Double(seconds))
        let below = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        for path in [folder.url.path] + below.map({ folder.url.appendingPathComponent($0).path }) {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        }
        let reopened = try open()
        #expect(await reopened.get("key")?.value == "value")
        for key in ["a", "b", "c"] { try await reopened.set(key, for: key) }
        #expect(await reopened.get("c")?.value == "c")
        #expect(folder.entries.count == 2)
        #expect(folder.damaged == [])
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

    @Test("Of what was moved aside no more is kept than somebody would look at, and the oldest goes first")
    func manyDamaged() async throws {
        let cache = try open(entries: nil)
        for key in 0..<40 { try await cache.set("value", for: "\(key)") }
        for path in folder.entries { try overwrite(path, [0]) }
        for key in 0..<40 { #expect(await cache.get("\(key)") == nil) }
        #expect(folder.damaged.count == DiskFolder.damagedLimit)
        #expect(outcomes.count("damaged") == 40)
        for key in 8..<40 {
            #expect(folder.damaged.count { $0.hasSuffix(Digest(of: "\(key)".utf8).hex) } == 1, "\(key)")
        }
    }

    @Test("What was moved aside takes no more room than a tenth of what the entries may")
    func damagedBytes() async throws {
        let cache = try DiskCache<String, String>(
            folder: folder.url, partition: nil, bounds: DiskBounds(bytes: 100_000), durability: .process,
            coding: .json, ledger: CacheLedger(), files: files, text: { $0 })
        for key in 0..<10 {
            try await cache.set("value", for: "\(key)")
            try overwrite(try folder.onlyEntry().path, Array(repeating: 1, count: key == 9 ? 20_000 : 3_000))
            #expect(await cache.get("\(key)") == nil)
            let length = try folder.damaged.reduce(0) { try $0 + Data(contentsOf: URL(fileURLWithPath: $1)).count }
            #expect(length <= 10_000, "\(key)")
            #expect(folder.damaged.count == (key == 9 ? 0 : min(key + 1, 3)), "\(key)")
        }
    }

    @Test("The same key can be damaged again and again, also by folders that aren't empty")
    func damagedAgain() async throws {
        let cache = try open()
        for round in 0..<4 {
            try await cache.set("\(round)", for: "key")
            let path = try folder.onlyEntry().path
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path + "/inner", withIntermediateDirectories: true)
            try overwrite(path + "/inner/file", [1])
            // Not only a read finds it.
            if round == 1 { try await cache.remove("key") }
            if round == 2 { #expect(await cache.get("key") == nil) }
        }
        try await cache.set("last", for: "key")
        #expect(await cache.get("key")?.value == "last")
        #expect(outcomes.count("failed") == 0)
        #expect(files.openFiles == 0)
    }

    @Test("A folder in the place of an entry doesn't keep it from being written or removed", arguments: [nil, 2])
    func folderInPlace(bound: Int?) async throws {
        let cache = try open(entries: bound)
        try await cache.set("old", for: "key")
        let path = try folder.onlyEntry().path
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path + "/inner", withIntermediateDirectories: true)
        #expect(await cache.error(ofWriting: "new") == nil)
        #expect(await cache.get("key")?.value == "new")
        try await cache.remove("key")
        #expect(await cache.get("key") == nil)
        for key in 0..<5 { #expect(await cache.error(ofWriting: "value", for: "\(key)") == nil) }
        #expect(folder.entries.count == bound ?? 5)
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
        try await open().wipe()
        let socket = try await damage { path, _ in
            try FileManager.default.removeItem(atPath: path)
            try makeSocket(at: path)
        }
        #expect(socket == ["damaged key notAFile"])
    }

    /// Binds a socket where its name is short enough for one, and moves it.
    private func makeSocket(at path: String) throws {
        #if canImport(Darwin)
        let file = socket(AF_UNIX, SOCK_STREAM, 0)
        #else
        let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        defer { close(file) }
        let short = folder.path + "/s"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, size) }
        }
        try #require(result == 0)
        try #require(rename(short, path) == 0)
    }

    @Test(
        "What can't be an entry isn't read, goes where something older has to go, and keeps no removal from ending",
        arguments: 0..<4)
    func noEntryInPlace(way: Int) async throws {
        let cache = try open()
        try await cache.set("old", for: "key")
        let path = try folder.onlyEntry().path
        try await cache.set("other", for: "other", tags: ["new"])
        try FileManager.default.removeItem(atPath: path)
        switch way {
        case 0: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/x")
        case 1: #expect(mkfifo(path, 0o600) == 0)
        case 2: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default:
            try overwrite(path, [])
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.truncate(atOffset: UInt64(DiskRecord.greatestLength) + 1)
            try file.close()
        }
        files.fail(nil)
        let permit = cache.ledger.permit(for: "key")
        let entry = cache.ledger.entry("new", tags: ["new"])
        #expect(permit.answer(entry) == nil)
        try await cache.removeAll(tagged: "new")
        try await cache.set(entry, for: "key", permit: permit)
        // That of the other one.
        #expect(files.made.count { $0 == .read } == 1)
        #expect(await cache.get("other") == nil)
        #expect(throws: CocoaError.self) { try FileManager.default.attributesOfItem(atPath: path) }
        #expect(outcomes.count("failed") == 0)
        #expect(files.openFiles == 0)
    }

    @Test("An entry in another's place is not served, and one whose value can't be decoded is moved aside")
    func wrongContents() async throws {
        let other = try await damage { path, _ in
            try overwrite(path, try #require(DiskRecord(key: "other").file(with: "\"value\"".utf8)))
        }
        #expect(other == ["damaged key otherKey"])
        try await open().wipe()

        let undecodable = try await damage { path, _ in
            try overwrite(path, try #require(DiskRecord(key: "key").file(with: "17".utf8)))
        }
        #expect(undecodable == ["damaged key undecodable"])
    }

    @Test("What another has written in the place of a damaged entry since is not moved aside", arguments: 0..<3)
    func mendedMeanwhile(way: Int) async throws {
        let cache = try open(durability: .process)
        let other = try DiskCache<String, String>(folder: folder.url)
        try await cache.set("old", for: "key")
        let path = try folder.onlyEntry().path
        switch way {
        case 0: try overwrite(path, [1, 2, 3])
        case 1:
            try overwrite(path, try #require(DiskRecord(key: "key").file(with: "17".utf8)))
        default:
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/x")
        }
        // Found to be damaged, and not yet out of the way.
        let record = DiskRecord(key: "key")
        let mended = try #require(record.file(with: "\"new\"".utf8))
        files.before(next: .lock) { [folder] in
            #expect(throws: Never.self) {
                let order = WriteOrder(digest: Digest(of: "key".utf8), tags: [], asked: MachineTime.now)
                _ = try folder.elsewhere.write(mended, order, if: { true }, orClearIf: { false })
            }
        }
        #expect(await cache.get("key") == nil)
        #expect(outcomes.count("damaged") == 1)
        #expect(await cache.get("key")?.value == "new")
        #expect(await other.get("key")?.value == "new")
        #expect(folder.damaged == [])
        #expect(files.openFiles == 0)
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
}
