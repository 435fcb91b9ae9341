import Foundation
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

/// A link stands in the place of each thing that a cache makes in its folder. What it leads to belongs to others.
@Suite("Links in a cache's folder", .fewAtOnce, .timeLimit(.ample))
struct LinkedFolderTests {
    enum Place: CaseIterable, Sendable {
        case partition, writing, damaged, entry, journal
        case hardLinkedEntry, hardLinkedJournal

        var isFolder: Bool { self == .partition || self == .writing || self == .damaged }
    }

    enum Work: CaseIterable, Sendable {
        case read, readDamaged, write, writeDropped, remove, removeTagged, wipe, evict, sweep, longJournal, readShared
        case wipeShared
    }

    /// A cache's folder and another one beside it, with the files by which a cache would know its own.
    private struct Scene {
        let scratch: TemporaryFolder
        let cache: String
        let victim: String
        let partition: String
        let name: String?
        let outcomes = Outcomes()

        init(partition name: String?) throws {
            scratch = try TemporaryFolder()
            self.name = name
            (cache, victim) = (scratch.path + "/cache", scratch.path + "/victim")
            partition = cache + "/" + (name.map { "partition-" + Digest(of: $0.utf8).hex } ?? "shared")
        }

        func open(
            _ memory: Int? = 10, files: any FileLayer = POSIXFiles()
        ) throws -> DiskCache<String, String> {
            try DiskCache(
                folder: URL(fileURLWithPath: cache), partition: name, bounds: DiskBounds(entries: 3),
                memoryLimit: memory, durability: .process, coding: .json,
                ledger: CacheLedger(onOutcome: outcomes.hook()), files: files, text: { $0 })
        }

        func fill() async throws {
            let filling = try open()
            for key in ["key", "other"] { try await filling.set("old", for: key, tags: ["tag"]) }
            let files = FileManager.default
            for folder in ["", "/writing", "/damaged"] {
                try files.createDirectory(atPath: victim + folder, withIntermediateDirectories: true)
                for name in ["999999999-1-1", "precious", Digest(of: "key".utf8).hex, Digest(of: "new".utf8).hex] {
                    try Data("precious".utf8).write(to: URL(fileURLWithPath: victim + folder + "/" + name))
                }
            }
            for name in ["changes", Digest(of: "other".utf8).hex] {
                try files.copyItem(atPath: partition + "/" + name, toPath: victim + "/" + name)
            }
        }

        func place(_ place: Place) throws {
            let (entry, files) = (Digest(of: "key".utf8).hex, FileManager.default)
            let (path, target) =
                switch place {
                case .partition: (partition, victim)
                case .writing: (partition + "/writing", victim)
                case .damaged: (partition + "/damaged", victim)
                case .entry: (partition + "/" + entry, victim + "/" + entry)
                case .journal: (partition + "/changes", victim + "/changes")
                case .hardLinkedEntry: (partition + "/" + entry, victim + "/hard")
                case .hardLinkedJournal: (partition + "/changes", victim + "/hard")
                }
            guard !target.hasSuffix("hard") else { return try files.linkItem(atPath: path, toPath: target) }
            try? files.removeItem(atPath: path)
            try files.createSymbolicLink(atPath: path, withDestinationPath: target)
        }

        private func path(_ place: Place) -> String {
            place == .partition ? partition : partition + (place == .writing ? "/writing" : "/damaged")
        }

        /// Moves a folder away, and puts a link in its place.
        func swap(_ place: Place) throws {
            let path = path(place)
            _ = rename(path, scratch.path + "/moved")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        }

        /// Everything in the folder that isn't the cache's: names, bytes, modes, and when it was changed.
        func precious() throws -> [String] {
            try ([""] + FileManager.default.subpathsOfDirectory(atPath: victim).sorted()).map { name in
                let path = victim + "/" + name
                var status = stat()
                guard lstat(path, &status) == 0 else { return name }
                let bytes = try? Data(contentsOf: URL(fileURLWithPath: path))
                return "\(name) \(status.st_mode) \(status.changed) \(bytes.map { Digest(of: $0).hex } ?? "-")"
            }
        }

        func perform(_ work: Work, _ cache: DiskCache<String, String>, _ entries: DiskCache<String, String>)
            async throws
        {
            switch work {
            case .read, .readDamaged: for key in ["key", "other", "new"] { _ = await cache.get(key) }
            case .write: for key in ["key", "new"] { try await cache.set("new", for: key) }
            case .writeDropped:
                let permit = cache.ledger.permit(for: "key")
                let entry = cache.ledger.entry("dropped", tags: ["dropped"])
                _ = permit.answer(entry)
                try await cache.invalidate(tag: "dropped")
                try await cache.set(entry, for: "key", permit: permit)
            case .remove: try await cache.remove("key")
            case .removeTagged: try await cache.removeAll(tagged: "tag")
            case .wipe: try await cache.wipe()
            case .evict: for key in 0..<6 { try await cache.set("new", for: "\(key)") }
            case .sweep: try await open().set("new", for: "new")
            case .longJournal: for _ in 0..<2 { try await cache.set("new", for: "other") }
            case .readShared:
                try await entries.set("newer", for: "other")
                for key in ["key", "other"] { _ = await cache.get(key) }
            case .wipeShared:
                try await entries.wipe()
                try await cache.set("new", for: "key")
            }
        }

        func prepare(_ work: Work) throws {
            if work == .readDamaged {
                for key in ["key", "other"] {
                    let path = partition + "/" + Digest(of: key.utf8).hex
                    // In place: another name of the same file may be somebody else's.
                    try? FileManager.default.removeItem(atPath: path)
                    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
                }
            }
            guard work == .longJournal else { return }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: partition + "/changes"))
            try file.truncate(atOffset: UInt64(DiskJournal.greatestLength) + 64)
            try file.close()
        }
    }

    @Test(
        "Nothing that a link leads to is changed or removed, whatever the cache does",
        arguments: Place.allCases)
    func untouched(place: Place) async throws {
        for work in Work.allCases {
            for isOpen in [false, true] {
                let scene = try Scene(partition: isOpen ? "alice" : nil)
                try await scene.fill()
                try scene.prepare(work)
                let before = isOpen ? (try scene.open(), try scene.open()) : nil
                if let before {
                    for cache in [before.0, before.1] {
                        try await cache.set("open", for: "other")
                        _ = await cache.get("key")
                    }
                    try scene.prepare(work)
                }
                try scene.place(place)
                let precious = try scene.precious()

                let (cache, other) = try before ?? (scene.open(), scene.open())
                do {
                    try await scene.perform(work, cache, other)
                    #expect(place != .partition || [.read, .readDamaged].contains(work), "\(work), open: \(isOpen)")
                } catch let error as DiskCacheError {
                    #expect(place == .partition && error == .notAFolder(scene.partition), "\(work): \(error)")
                }

                #expect(try scene.precious() == precious, "\(work), open: \(isOpen)")
                guard place != .partition else { continue }
                // It goes on, and what was in its way is gone.
                for cache in [cache, other, try scene.open(nil)] {
                    try await cache.set("last", for: "key")
                    for cache in [cache, other] { #expect(await cache.get("key")?.value == "last", "\(work)") }
                }
                #expect(try scene.precious() == precious, "\(work), open: \(isOpen), afterwards")
            }
        }
    }

    @Test(
        "A folder that becomes a link at any call of the system is not followed",
        arguments: [Place.partition, .writing, .damaged], Work.allCases.filter { $0 != .sweep })
    func swapped(place: Place, work: Work) async throws {
        var call = 0
        while true {
            let (scene, files) = (try Scene(partition: nil), FaultyFiles())
            try await scene.fill()
            try scene.prepare(work)
            let (cache, other) = (try scene.open(files: files), try scene.open())
            let precious = try scene.precious()
            let (number, isReached) = (call, Shared(false))
            files.beforeEach { made in
                guard made == number else { return }
                isReached.value = true
                #expect(throws: Never.self) { try scene.swap(place) }
            }

            await #expect(throws: Never.self) {
                do { try await scene.perform(work, cache, other) } catch is DiskCacheError {}
            }

            #expect(try scene.precious() == precious, "call \(call)")
            guard isReached.value else { break }
            call += Volume.of(1, normally: 19)
        }
        #expect(call > 2)
    }

    @Test("The folder that is named may be reached through a link")
    func namedThroughLink() async throws {
        let scratch = try TemporaryFolder()
        let (real, link) = (scratch.path + "/real", scratch.path + "/link")
        try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
        let cache = try DiskCache<String, String>(folder: URL(fileURLWithPath: link + "/inner"), durability: .power)

        try await cache.set("value", for: "key")

        #expect(FileManager.default.fileExists(atPath: real + "/inner/shared/changes"))
        #expect(await cache.get("key")?.value == "value")
        try await cache.wipe()
        #expect(await cache.get("key") == nil)
    }

    @Test(
        "A journal with a second name is replaced, and caches that have the old one open serve nothing old from memory")
    func replacedJournal() async throws {
        let scene = try Scene(partition: nil)
        try await scene.fill()
        let (first, second) = (try scene.open(), try scene.open())
        for cache in [first, second] { #expect(await cache.get("key")?.value == "old") }
        try scene.place(.hardLinkedJournal)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scene.victim + "/hard"))
        let late = second.ledger.permit(for: "late")

        try await first.set("new", for: "key")
        try await first.remove("late")

        #expect(try Data(contentsOf: URL(fileURLWithPath: scene.victim + "/hard")) == bytes)
        #expect(await second.get("key")?.value == "new")
        try await second.set(second.ledger.entry("late"), for: "late", permit: late)
        #expect(await first.get("late") == nil)
    }
}

extension stat {
    /// When the bytes of a file, or the names in a folder, were changed.
    fileprivate var changed: String {
        #if canImport(Darwin)
        "\(st_mtimespec.tv_sec).\(st_mtimespec.tv_nsec)"
        #else
        "\(st_mtim.tv_sec).\(st_mtim.tv_nsec)"
        #endif
    }
}
