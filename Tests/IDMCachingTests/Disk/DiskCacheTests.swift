import Foundation
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

@Suite("A cache on disk", .fewAtOnce, .timeLimit(.ample))
struct DiskCacheTests {
    private let folder: TemporaryFolder
    private let outcomes = Outcomes()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(
        partition: String? = nil, bytes: Int? = nil, entries: Int? = nil, durability: CacheDurability = .process,
        clock: CacheClock = .system
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: partition, byteLimit: bytes, entryLimit: entries, durability: durability,
            clock: clock, onOutcome: outcomes.hook())
    }

    @Test("An entry survives a relaunch, with its time and its tags", arguments: [CacheDurability.process, .power])
    func relaunch(durability: CacheDurability) async throws {
        let wall = WallClock()
        try await open(durability: durability, clock: wall.clock).set("value", for: "key", tags: ["a", "b"])
        wall.advance(by: .seconds(60))

        let entry = try await #require(open(clock: wall.clock).get("key"))
        #expect(entry.value == "value" && entry.tags == ["a", "b"])
        #expect(wall.clock.age(of: entry.stamp) == .seconds(60))
        #expect(try await open().get("other") == nil)
    }

    @Test("Nothing is made before the first write, not even by reading")
    func lazy() async throws {
        let cache = try open(entries: 5)
        #expect(await cache.get("key") == nil)
        try await cache.remove("key")
        try await cache.removeAll(tagged: "tag")
        try await cache.wipe()
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path) == [])
    }

    @Test("Files are for this user alone, and names say nothing of keys and partitions")
    func privacy() async throws {
        let cache = try open(partition: "../alice")
        try await cache.set("value", for: "../../secret")
        let entry = try folder.onlyEntry().path
        #expect(try folder.mode(of: entry) == 0o600)
        #expect(try folder.mode(of: (entry as NSString).deletingLastPathComponent) == 0o700)
        #expect(!entry.contains("secret") && !entry.contains("alice"))
    }

    @Test("One partition never sees another's entries, and wiping one leaves the others")
    func partitions() async throws {
        let (alice, bob, nobody) = (try open(partition: "alice"), try open(partition: "bob"), try open())
        try await alice.set("a", for: "key")
        try await bob.set("b", for: "key")
        #expect(await nobody.get("key") == nil)
        // Names that are equal are the same one, however they were typed.
        try await open(partition: "Rene\u{301}").set("r", for: "key")
        #expect(try await open(partition: "Ren\u{e9}").get("key")?.value == "r")
        try await open(partition: "Ren\u{e9}").wipe()
        try await alice.wipe()
        #expect(await alice.get("key") == nil)
        #expect(await bob.get("key")?.value == "b")
        #expect(folder.files.count == 1)
    }

    @Test("Entries are removed by key, by tag, and all of them")
    func removal() async throws {
        let cache = try open()
        for key in 0..<10 { try await cache.set("x", for: "\(key)", tags: key.isMultiple(of: 2) ? ["even"] : []) }
        try await cache.remove("1")
        #expect(folder.entries.count == 9)
        try await cache.removeAll(tagged: "even")
        #expect(folder.entries.count == 4)
        #expect(await cache.get("2") == nil)
        #expect(await cache.get("3") != nil)
        try await cache.removeAll()
        #expect(folder.files == [])
        #expect(cache.ledger.isEmpty)
    }

    // MARK: Bounds

    @Test("No more entries stay than there may be; the least recently used one goes first")
    func entryLimit() async throws {
        let cache = try open(entries: 3)
        for key in ["a", "b", "c"] { try await cache.set(key, for: key) }
        #expect(await cache.get("a") != nil)
        try await cache.set("d", for: "d")
        #expect(await cache.get("b") == nil)
        for key in ["a", "c", "d"] { #expect(await cache.get(key)?.value == key) }
        #expect(outcomes.count("evicted 1 bounds") == 1)
        // Written again, an entry takes no more room than before.
        for _ in 0..<5 { try await cache.set("new", for: "d") }
        #expect(folder.entries.count == 3)
    }

    @Test("The files are never longer together than they may be, also after a relaunch")
    func byteLimit() async throws {
        let value = String(repeating: "v", count: 1_000)
        func length() throws -> Int {
            try folder.entries.reduce(0) { try $0 + Data(contentsOf: URL(fileURLWithPath: $1)).count }
        }
        for launch in 0..<3 {
            let cache = try open(bytes: 20_000)
            for key in 0..<20 {
                try await cache.set(value, for: "\(launch) \(key)")
                #expect(try length() <= 20_000)
            }
            #expect(await cache.get("\(launch) 19") != nil)
        }
        #expect(folder.entries.count > 14)
    }

    @Test("Entries that were used in the future, as a clock says that was set since, are the first to go")
    func futureUses() async throws {
        let cache = try open(entries: 10)
        for key in 0..<10 { try await cache.set("old", for: "\(key)") }
        for path in folder.entries {
            let tomorrow = Date(timeIntervalSinceNow: 86_400)
            try FileManager.default.setAttributes([.modificationDate: tomorrow], ofItemAtPath: path)
        }
        let later = try open(entries: 10)
        for key in 0..<9 {
            try await later.set("new", for: "new \(key)")
            for key in 0...key { #expect(await later.get("new \(key)")?.value == "new") }
        }
    }

    @Test("A bound that allows nothing, and a folder that is none, are refused when the cache is opened")
    func refused() throws {
        #expect(throws: DiskCacheError.boundTooSmall(0)) { try open(bytes: 0) }
        #expect(throws: DiskCacheError.boundTooSmall(-1)) { try open(entries: -1) }
        #expect(throws: DiskCacheError.boundTooSmall(0)) {
            try DiskCache<String, String>(folder: folder.url, memoryLimit: 0)
        }
        #expect(throws: DiskCacheError.notAFolder("https")) {
            try DiskCache<String, String>(folder: URL(string: "https://example.com/cache")!)
        }
    }

    // MARK: In memory as well

    private func remembering(
        _ files: FaultyFiles, bounds: DiskBounds = DiskBounds(), limit: Int = 2,
        decode: @escaping @Sendable () -> Void = {}
    ) throws -> DiskCache<String, String> {
        try DiskCache(
            folder: folder.url, partition: nil, bounds: bounds, memoryLimit: limit, durability: .process,
            coding: CacheCoding(
                encode: { Data($0.utf8) },
                decode: { data in
                    decode()
                    return String(decoding: data, as: UTF8.self)
                }), ledger: CacheLedger(), files: files, text: { $0 })
    }

    /// Whether an entry was read from memory: that takes a look at the journal, and nothing else.
    private func isInMemory(_ key: String, _ cache: DiskCache<String, String>, _ files: FaultyFiles) async -> Bool {
        files.fail(nil)
        let entry = await cache.get(key)
        return entry != nil && files.made == [.status]
    }

    @Test("What is in memory as well is read without the disk, and leaves with the entry", arguments: 0..<3)
    func memory(way: Int) async throws {
        let files = FaultyFiles()
        let cache = try remembering(files)
        try await cache.set("value", for: "key", tags: ["tag"])
        #expect(await isInMemory("key", cache, files))
        switch way {
        case 0: try await cache.remove("key")
        case 1: try await cache.removeAll(tagged: "tag")
        default: try await cache.wipe()
        }
        #expect(await cache.get("key") == nil)
    }

    @Test("A folder that goes away takes with it what is in memory as well")
    func memoryOfVanished() async throws {
        let cache = try remembering(FaultyFiles())
        try await cache.set("value", for: "key")
        try FileManager.default.removeItem(at: folder.url)
        #expect(await cache.get("key") == nil)
    }

    @Test("What was read from the disk stays in memory, unless something was removed while it was read")
    func memoryFill() async throws {
        try await remembering(FaultyFiles()).set("value", for: "key")
        let files = FaultyFiles()
        let cache = try remembering(files)
        #expect(await cache.get("key") != nil)
        #expect(await isInMemory("key", cache, files))

        // Another process removes something while the value is being decoded.
        let other = folder.elsewhere
        let removes = Shared(true)
        let late = try remembering(files) {
            guard removes.value else { return }
            #expect(throws: Never.self) { try other.remove(Digest(of: "key".utf8), asked: MachineTime.now) }
        }
        #expect(await late.get("key")?.value == "value")
        #expect(await late.get("key") == nil)
        removes.value = false
        #expect(await cache.get("key") == nil)
        try await cache.set("new", for: "key")
        #expect(await late.get("key")?.value == "new")
        #expect(await isInMemory("key", late, files))
        #expect(cache.ledger.isEmpty && late.ledger.isEmpty)
    }

    @Test("What is used in memory alone is as recently used as anything, and isn't the first to go from the disk")
    func memoryUses() async throws {
        let files = FaultyFiles()
        let cache = try remembering(files, bounds: DiskBounds(entries: 10), limit: 20)
        for key in 0..<10 { try await cache.set("value", for: "\(key)") }
        for key in [0, 3, 0] { #expect(await isInMemory("\(key)", cache, files)) }
        try await cache.set("value", for: "10")
        let left = try remembering(FaultyFiles())
        for key in [0, 3, 10] { #expect(await left.get("\(key)") != nil) }
        for key in [1, 2] { #expect(await left.get("\(key)") == nil) }
    }

    @Test("Uses in memory are told to the files now and then, also where nothing has to go")
    func memoryUsesAreTold() async throws {
        let files = FaultyFiles()
        let cache = try remembering(files, bounds: DiskBounds(entries: 1_000), limit: 100)
        for key in 0..<70 { try await cache.set("value", for: "\(key)") }
        for path in folder.entries {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 9)], ofItemAtPath: path)
        }
        for key in 0..<70 { #expect(await cache.get("\(key)") != nil) }
        _ = await cache.get("other")
        let times = try folder.entries.map {
            try FileManager.default.attributesOfItem(atPath: $0)[.modificationDate] as? Date
        }
        #expect(times.count == 70 && times.allSatisfy { $0?.timeIntervalSince1970 ?? 0 > 9 })
    }

    @Test("Of writes that race, the last question's stays in memory and on the disk")
    func memoryRace() async throws {
        let cache = try DiskCache<String, String>(folder: folder.url, memoryLimit: 4)
        for _ in 0..<Volume.of(200, normally: 20) {
            let permits = (0..<6).map { _ in cache.ledger.permit(for: "key") }
            await withTaskGroup { group in
                for (index, permit) in permits.enumerated() {
                    group.addTask { try? await cache.set(cache.ledger.entry("\(index)"), for: "key", permit: permit) }
                    group.addTask { _ = await cache.get("key") }
                }
            }
            #expect(await cache.get("key")?.value == "5")
            #expect(try await open().get("key")?.value == "5")
        }
    }

    // MARK: The clock

    @Test("A clock that is set makes entries stale, and what is written afterwards isn't", arguments: [-5_000, 5_000])
    func clockSteps(seconds: Int) async throws {
        let wall = WallClock()
        let cache = try open(clock: wall.clock)
        try await cache.set("before", for: "key")
        wall.step(by: .seconds(seconds))
        let before = try #require(await cache.get("key"))
        #expect(cache.ledger.clock.age(of: before.stamp) == nil)
        try await cache.set("after", for: "key")
        wall.advance(by: .seconds(3))
        let after = try #require(await cache.get("key"))
        #expect(cache.ledger.clock.age(of: after.stamp) == .seconds(3))
    }

    @Test("An entry from the future, found by another launch, is stale until it is written anew")
    func future() async throws {
        let wall = WallClock()
        try await open(clock: wall.clock).set("value", for: "key")
        wall.step(by: .seconds(-3600))
        let later = try open(clock: wall.clock)
        let entry = try #require(await later.get("key"))
        #expect(later.ledger.clock.age(of: entry.stamp) == nil)
    }

    // MARK: Writes in flight

    @Test("A write that was asked for before a removal, a tag's or a wipe, does not land", arguments: 0..<3)
    func permits(way: Int) async throws {
        let cache = try open()
        let permit = cache.ledger.permit(for: "key")
        let entry = cache.ledger.entry("old", tags: ["tag"])
        switch way {
        case 0: try await cache.remove("key")
        case 1: try await cache.removeAll(tagged: "tag")
        default: try await cache.wipe()
        }
        try await cache.set(entry, for: "key", permit: permit)
        #expect(await cache.get("key") == nil)
        #expect(folder.files == [])
    }

    @Test("A wipe against writes in flight: whatever was asked for before is gone when it has ended")
    func wipeRace() async throws {
        let cache = try open()
        for round in 0..<Volume.of(200, normally: 20) {
            let permits = (0..<8).map { cache.ledger.permit(for: "\($0)") }
            await withTaskGroup { group in
                for (key, permit) in permits.enumerated() {
                    group.addTask {
                        try? await cache.set(cache.ledger.entry("secret"), for: "\(key)", permit: permit)
                    }
                }
                group.addTask { try? await cache.wipe() }
            }
            // A write that was still to begin when the wipe had ended has found out that it is too late.
            #expect(folder.files == [], "round \(round)")
        }
    }

    @Test("Many write and read the same few keys: every read finds a whole value")
    func racing() async throws {
        let cache = try open(entries: 4)
        await withTaskGroup { group in
            for seed in 0..<6 {
                group.addTask {
                    var random = SplitMix(seed: UInt64(seed))
                    for _ in 0..<Volume.of(500, normally: 40) {
                        let key = Int.random(in: 0..<6, using: &random)
                        if Bool.random(using: &random) {
                            let letter = Character(UnicodeScalar(UInt8.random(in: 97...122, using: &random)))
                            try? await cache.set(String(repeating: letter, count: 5_000), for: "\(key)")
                        } else if let found = await cache.get("\(key)") {
                            #expect(Set(found.value).count == 1 && found.value.utf8.count == 5_000)
                        }
                    }
                }
            }
        }
        #expect(folder.entries.count <= 4)
        #expect(outcomes.count("damaged") == 0 && outcomes.count("failed") == 0)
        #expect(folder.unfinished == [])
    }
}
