import Foundation
import IDMFiles
import TestSupport
import Testing

@testable import IDMCaching

@Suite("A disk cache's folder", .fewAtOnce, .timeLimit(.ample))
struct DiskFolderTests {
    private let scratch: TemporaryFolder
    private let files = FaultyFiles()

    init() throws {
        scratch = try TemporaryFolder()
    }

    private func folder(entries: Int, files: (any FileLayer)? = nil) -> DiskFolder {
        DiskFolder(
            parents: [scratch.path], path: scratch.path + "/shared", bounds: DiskBounds(entries: entries),
            isPowerSafe: false, files: files ?? self.files, process: getpid())
    }

    private func write(_ key: Int, _ folder: DiskFolder) throws {
        var record = DiskRecord(key: "\(key)")
        record.asked = MachineTime.now
        let order = WriteOrder(digest: record.digest, tags: [], asked: record.asked)
        _ = try folder.write(#require(record.file(with: record.key)), order, if: { true }, orClearIf: { false })
    }

    private func finds(_ key: Int, _ folder: DiskFolder) throws -> Bool {
        let text = Array("\(key)".utf8)
        guard case .entry = try folder.read(Digest(of: text), text, edition: { _ in }) else { return false }
        return true
    }

    @Test("What was read before a removal is not of the edition after it", arguments: 0..<4)
    func editions(way: Int) throws {
        let folder = folder(entries: 5)
        var record = DiskRecord(key: "key")
        record.tags = ["tag"]
        let order = WriteOrder(digest: record.digest, tags: record.tags, asked: MachineTime.now)
        _ = try folder.write(#require(record.file(with: record.key)), order, if: { true }, orClearIf: { false })
        var edition: Int?
        _ = try folder.read(record.digest, record.key) { edition = $0 }
        #expect(edition == folder.edition)
        switch way {
        case 0: try folder.remove(record.digest, asked: MachineTime.now)
        case 1: try folder.removeAll(tagged: "tag", asked: MachineTime.now)
        case 2: try folder.removeAll(asked: MachineTime.now)
        default: folder.moveAside(record.digest) { _ in true }
        }
        #expect(edition != folder.edition)
    }

    @Test("While the entries are counted, all others read, write and remove, and what they do is counted too")
    func countingHoldsUpNobody() throws {
        let mine = folder(entries: 50)
        let theirs = folder(entries: 1_000, files: POSIXFiles())
        for key in 0..<20 { try write(key, theirs) }
        try write(20, mine)
        // The folder has been listed already, and is looked through. Where a lock were held this would wait for ever.
        let looks = Shared(0)
        files.before(next: .names) {
            files.beforeEach { _ in
                guard
                    looks.change({
                        $0 += 1
                        return $0 == 10
                    })
                else { return }
                #expect(throws: Never.self) {
                    try #expect(finds(3, mine))
                    for key in 100..<110 { try write(key, mine) }
                    for key in 200..<210 { try write(key, theirs) }
                    for key in 0..<5 { try mine.remove(Digest(of: "\(key)".utf8), asked: MachineTime.now) }
                    for key in 5..<9 { try theirs.remove(Digest(of: "\(key)".utf8), asked: MachineTime.now) }
                }
            }
        }
        // What is called holds the folder, and is held by its files.
        defer { files.beforeEach { _ in } }
        #expect(try mine.trim() == 0)
        #expect(looks.value > 10)
        #expect(scratch.entries.count == 21 + 20 - 9)
        let usage = try #require(mine.known)
        #expect(usage.entries == scratch.entries.count)
        let length = try scratch.entries.reduce(0) { try $0 + Data(contentsOf: URL(fileURLWithPath: $1)).count }
        #expect(usage.bytes == length)
    }

    @Test("An entry that is used or written while the oldest are removed is not one of them")
    func usedMeanwhile() throws {
        let mine = folder(entries: 10)
        for key in 0..<12 { try write(key, mine) }
        files.before(next: .lock) {
            // The count begins. The entries get their order after it, from what was seen.
            files.before(next: .names) {
                files.before(next: .lock) {
                    files.before(next: .lock) {
                        #expect(throws: Never.self) {
                            try #expect(finds(0, folder(entries: 1_000, files: POSIXFiles())))
                        }
                    }
                }
            }
        }
        #expect(try mine.trim() == 3)
        for key in [0, 4, 5, 11] { #expect(try finds(key, mine), "\(key)") }
        for key in [1, 2, 3] { #expect(try !finds(key, mine), "\(key)") }
    }

    @Test("A removal that was told and couldn't be made lets nobody believe that there is less", arguments: 0..<2)
    func failedRemoval(way: Int) throws {
        let mine = folder(entries: 2)
        let theirs = folder(entries: 100, files: POSIXFiles())
        for key in 0..<5 { try write(key, theirs) }
        try write(5, mine)
        #expect(try theirs.trim() == 0)
        files.fail(next: .remove, EACCES)
        #expect(throws: FileFault.self) {
            if way == 0 { try mine.remove(Digest(of: "0".utf8), asked: MachineTime.now) } else { _ = try mine.trim() }
        }
        try theirs.hold(theirs.open()) {}
        #expect(try theirs.trim() == 0)
        let usage = try #require(theirs.known)
        #expect(usage.entries == 6 && scratch.entries.count == 6)
    }

    @Test("How much there is stays exact, whatever many do at once, in two caches")
    func exactCount() async throws {
        let folders = [folder(entries: 40, files: POSIXFiles()), folder(entries: 40, files: POSIXFiles())]
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for key in 0..<Volume.of(500, normally: 60) {
                        let folder = folders[(task + key) % 2]
                        // Each task has keys of its own, as each lane has.
                        #expect(throws: Never.self) { try write(task * 1_000 + key % 15, folder) }
                        if key % 7 == 0 {
                            #expect(throws: Never.self) {
                                try folder.remove(Digest(of: "\(task * 1_000 + key % 15)".utf8), asked: MachineTime.now)
                            }
                        }
                    }
                }
            }
        }
        for folder in folders { _ = try folder.trim() }
        for folder in folders {
            try folder.hold(folder.open()) {}
            #expect(try #require(folder.known).entries == scratch.entries.count)
        }
        #expect(scratch.entries.count <= 40)
    }
}
