import Foundation
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Folders that have another path at the next start, as an app's container does after an update.
extension TransferCenterTests {
    /// A container with records and files in it, deep in folders of their own.
    private struct Container {
        let url: URL
        var records: URL { url.appendingPathComponent("Library/Application Support/transfers") }
        var files: URL { url.appendingPathComponent("Documents/maps") }

        func make() throws {
            for folder in [records, files] {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
        }

        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: files.path)) ?? []).sorted() }
    }

    private var before: Container { Container(url: folder.url.appendingPathComponent("before")) }
    private var after: Container { Container(url: folder.url.appendingPathComponent("after")) }

    /// Everything moves.
    private func move() throws { try FileManager.default.moveItem(at: before.url, to: after.url) }

    private func download(_ id: String, in container: Container, isFolder: Bool = false) -> ServiceDownload {
        ServiceDownload(
            ServiceRequest(.get, "/maps/\(id)"),
            to: isFolder ? .folder(container.files) : .file(container.files.appendingPathComponent(id)))
    }

    /// A download of "a" that has come to 4,000 bytes in the container.
    private func leaveHalf(isFolder: Bool = false) async throws {
        try before.make()
        objects["a"].change { $0.breaksAfter = 4_000 }
        let first = try await TransferCenter(try service(), folder: before.records)
        first.download(download("a", in: before, isFolder: isFolder), id: "a")
        _ = try? await first.result(of: "a")
        await first.close()
        objects["a"].change { $0.breaksAfter = nil }
    }

    @Test("A download goes on where it has moved to together with its record", arguments: [false, true])
    func moved(isFolder: Bool) async throws {
        try await leaveHalf(isFolder: isFolder)
        try move()
        let second = try await TransferCenter(try service(), folder: after.records)
        #expect(second.progress().completed == 4_000)
        second.resume("a")
        let file = try #require(try await second.result(of: "a").file)
        await second.close()
        #expect(file.url.standardizedFileURL == after.files.appendingPathComponent("a").standardizedFileURL)
        #expect(after.names == ["a"] && objects["a"].sentBytes == 10_000)
    }

    @Test("What a download has left is removed where it has moved to")
    func movedAndRemoved() async throws {
        try await leaveHalf()
        try move()
        let second = try await TransferCenter(try service(), folder: after.records)
        second.cancel("a")
        await second.close()
        #expect(after.names.isEmpty)
    }

    @Test("What others had left that had the id is removed where it has moved to")
    func movedRemains() async throws {
        try await leaveHalf()
        let again = try await TransferCenter(try service(), folder: before.records)
        objects["b"].change { $0.breaksAfter = 4_000 }
        again.download(download("b", in: before), id: "a")
        _ = try? await again.result(of: "a")
        await again.close()
        #expect(before.names == ["a.part", "a.part.info", "b.part", "b.part.info"])
        try move()
        let next = try await TransferCenter(try service(), folder: after.records)
        next.cancel("a")
        await next.close()
        #expect(after.names.isEmpty)
    }

    /// A download of "a" that has landed in the container, which its process didn't live to tell.
    private func leaveLanded() async throws {
        try before.make()
        let files = FaultyFiles()
        let core = TransferCore(
            DownloadProvider(try service(), files: files), UploadProvider(try service()), width: 1,
            archive: try TransferArchive(before.records))
        let first = TransferCenter(core)
        let later = try TemporaryFolder()
        files.before(.link) { [before] in copyRecords(from: before.records, to: later.url) }
        first.download(download("a", in: before), id: "a")
        _ = try await first.result(of: "a")
        await first.close()
        // As a process would have left it that ended there.
        copyRecords(from: later.url, to: before.records)
    }

    @Test("A file that had landed before anybody was told is known where it has moved to")
    func movedAndLanded() async throws {
        try await leaveLanded()
        try move()
        let second = try await TransferCenter(try service(), folder: after.records)
        guard case .finished(let result)? = second.state(of: "a") else { throw Violation("not finished") }
        #expect(result.file?.url.standardizedFileURL == after.files.appendingPathComponent("a").standardizedFileURL)
    }

    @Test("A download whose records alone have moved goes on where it was")
    func movedRecords() async throws {
        try await leaveHalf()
        let later = folder.url.appendingPathComponent("later")
        try FileManager.default.moveItem(at: before.records, to: later)
        let second = try await TransferCenter(try service(), folder: later)
        second.resume("a")
        _ = try await second.result(of: "a")
        await second.close()
        #expect(before.names == ["a"] && objects["a"].sentBytes == 10_000)
    }

    @Test(
        "A download whose records alone have moved is where it was, whatever stands where it would be",
        arguments: [false, true])
    func movedRecordsBesideOthers(hasLanded: Bool) async throws {
        if hasLanded { try await leaveLanded() } else { try await leaveHalf() }
        try after.make()
        try Data("mine".utf8).write(to: after.files.appendingPathComponent("a"))
        try FileManager.default.removeItem(at: after.records)
        try FileManager.default.moveItem(at: before.records, to: after.records)
        let second = try await TransferCenter(try service(), folder: after.records)
        #expect(second.progress().completed == (hasLanded ? 10_000 : 4_000))
        second.resume("a")
        let file = try #require(try await second.result(of: "a").file)
        await second.close()
        #expect(file.url.standardizedFileURL == before.files.appendingPathComponent("a").standardizedFileURL)
        #expect(before.names == ["a"] && after.names == ["a"] && objects["a"].sentBytes == 10_000)
        #expect(try Data(contentsOf: after.files.appendingPathComponent("a")) == Data("mine".utf8))
    }

    @Test("Of a container and its copy each goes on with its own")
    func copied() async throws {
        try await leaveHalf()
        try FileManager.default.copyItem(at: before.url, to: after.url)
        let second = try await TransferCenter(try service(), folder: after.records)
        second.resume("a")
        _ = try await second.result(of: "a")
        await second.close()
        #expect(after.names == ["a"] && before.names == ["a.part", "a.part.info"])
    }

    @Test("A download whose folder is still to be made again gets there where the records have moved to")
    func movedAndEmptied() async throws {
        try await leaveHalf()
        try move()
        try FileManager.default.removeItem(at: after.files)
        let second = try await TransferCenter(try service(), folder: after.records)
        try after.make()
        second.resume("a")
        _ = try await second.result(of: "a")
        await second.close()
        #expect(after.names == ["a"])
    }

    /// Where a download is by now that was to get to a file as its record was written.
    private func destination(
        of file: String, in records: String, later: String,
        presence: (String) -> TransferRecord.Presence = { _ in .folder }
    ) throws -> String? {
        let download = ServiceDownload(ServiceRequest(.get, "/a"), to: .file(URL(fileURLWithPath: file)))
        let kept = TransferRecord("id", .download(download), .normal)?.kept(in: records)
        let read = TransferRecord(try #require(kept?.encoded()))
        return read?.found(in: later) { download, _ in presence(download.destination.url.path) }
            .work.download?.destination.url.path
    }

    @Test(
        "A place moves with its records if both are in one folder that isn't the root, and stays where it is otherwise",
        arguments: [
            ("/c/1/Library/t", "/c/1/Documents/a", "/c/2/Library/t", "/c/2/Documents/a"),
            ("/c/t", "/c/t/a b/é", "/d/e/t", "/d/e/t/a b/é"), ("/c/t", "/c/a", "/c/t", "/c/a"),
            ("/c/\u{301}t", "/c/a", "/d/\u{301}t", "/d/a"), ("/\u{301}c/t", "/\u{301}c/a", "/d/t", "/d/a"),
            ("/x/t", "/c/a", "/y/t", "/c/a"), ("/c/1/t", "/c/a", "/d/t", "/c/a"), ("/c/1/2/t", "/c/a", "/t", "/c/a"),
        ])
    func way(records: String, file: String, later: String, found: String) throws {
        #expect(try destination(of: file, in: records, later: later) == found)
    }

    @Test(
        "A place moves with its records unless there is more of it where it was asked for",
        arguments: [
            (there: TransferRecord.Presence.folder, before: TransferRecord.Presence.folder, isMoved: true),
            (.folder, .nothing, true), (.nothing, .folder, false), (.nothing, .nothing, true),
            (.folder, .remains, false), (.remains, .remains, true), (.remains, .folder, true),
            (.nothing, .remains, false),
        ])
    func there(there: TransferRecord.Presence, before: TransferRecord.Presence, isMoved: Bool) throws {
        let found = try destination(of: "/c/maps/a", in: "/c/t", later: "/d/t") { path in
            path == "/d/maps/a" ? there : before
        }
        #expect(found == (isMoved ? "/d/maps/a" : "/c/maps/a"))
    }

    @Test("A record that was written without the way to its place is read, and one with it is of the same version")
    func withoutTheWay() throws {
        let record = try #require(TransferRecord("id", .download(download("a", in: before)), .normal))
        let old = try #require(record.encoded())
        let found = TransferRecord(old)?.found(in: after.records.path) { _, _ in .folder }
        #expect(found?.work.download?.destination == download("a", in: before).destination)
        let new = try #require(record.kept(in: before.records.path).encoded())
        let versions = [old, new].map { String(decoding: $0, as: UTF8.self).hasPrefix("idm-transfer 1 ") }
        #expect(old.count < new.count && versions == [true, true])
    }

    /// The records of a folder, in another one.
    private func copyRecords(from folder: URL, to other: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            try? FileManager.default.copyItem(
                at: folder.appendingPathComponent(name), to: other.appendingPathComponent(name))
        }
    }
}
