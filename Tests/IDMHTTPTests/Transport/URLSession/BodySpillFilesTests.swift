import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Files of spilled bytes", .fewAtOnce, .timeLimit(.ample))
struct BodySpillFilesTests {
    @Test("comes back in its order, however it is written and fetched")
    func order() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix(seed: 3)
        var spool = BodySpillFiles(folder: folder.url, capacity: 1_000)
        var written = 0
        var fetched = 0
        for _ in 0..<3_000 {
            if Bool.random(using: &random) {
                let count = Int.random(in: 1...700, using: &random)
                try spool.append(Data((written..<written + count).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
                written += count
            } else if written > fetched {
                let count = Int.random(in: 1...min(written - fetched, 900), using: &random)
                let piece = try spool.fetch(count)
                #expect(piece == Data((fetched..<fetched + count).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
                fetched += count
            }
        }
        #expect(fetched > 100_000)
    }

    @Test("leaves no names behind, needs few files, and gives them back")
    func files() throws {
        let folder = try TemporaryFolder()
        var spool = BodySpillFiles(folder: folder.url, capacity: 1_000)
        for _ in 0..<1_000 { try spool.append(Data(count: 1_000)) }

        #expect(try folder.names().isEmpty)
        #expect(spool.fileCount == 11)
        _ = try spool.fetch(1_000_000)
        #expect(spool.fileCount == 1)
        try spool.append(Data([1, 2]))
        #expect(spool.fileCount == 1)
        #expect(try spool.fetch(2) == Data([1, 2]))
    }

    @Test("fails where there is no folder, and where more is fetched than there is")
    func faults() throws {
        var nowhere = BodySpillFiles(folder: URL(fileURLWithPath: "/nowhere"))
        #expect(throws: POSIXError.self) { try nowhere.append(Data([1])) }
        let folder = try TemporaryFolder()
        var spool = BodySpillFiles(folder: folder.url)
        try spool.append(Data([1]))
        #expect(throws: CocoaError.self) { try spool.fetch(2) }
    }

    @Test("the files are private to the user")
    func mode() throws {
        let folder = try TemporaryFolder()
        let file = try TemporaryFile(in: folder.url)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
        file.remove()
        #expect(try folder.names().isEmpty)
    }
}
