import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Answers that are of no use, and parts that are gone.
extension ResumeTests {
    @Test("An answer that is refused before any of it is taken leaves what is there")
    func portal() async throws {
        let place = try await broken()
        var download = place.download()
        download.size = 10_000
        let portal = DownloadProvider(
            try HTTPService(ScriptedTransport { _ in .text("Sign in first.", headers: ["Content-Length": "14"]) }))
        await #expect(throws: TransferError.size(expected: 10_000, found: 14)) { try await portal.request(download) }
        #expect(place.names == ["map.bin.part", "map.bin.part.info"] && place.partLength == 4_000)
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
    }

    @Test("That there is no such part leads to the whole, also where the rules let everything pass")
    func unsatisfiable() async throws {
        let place = try await broken()
        let server = place.server
        var service = try HTTPService(
            ScriptedTransport { request in
                guard request.headers["Range"] == nil else { return .text("{}", status: 416) }
                return try await server.send(request)
            })
        service.rules = [ResponseRule { _ in .success }]
        _ = try await DownloadProvider(service).request(place.download())
        #expect(place.isWhole())
    }

    @Test("A part that somebody takes away while it is written is told, and the next time all is right")
    func taken() async throws {
        let gate = Signal()
        let place = try Downloading { $0.holds = (after: 3_000, gate) }
        let request = Task { try await place.request() }
        try await place.server.log.contains("3000")
        try FileManager.default.removeItem(at: place.folder.url.appendingPathComponent("map.bin.part"))
        gate.open()
        await #expect(throws: TransferError.partLost("map.bin.part")) { try await request.value }
        _ = try await place.request()
        #expect(place.isWhole())
    }

    @Test(
        "A part whose length and range contradict one another isn't taken, and more than the range leads to the whole",
        arguments: ["bytes 4000-4999/10000", "bytes 4000-9998/10000"], [true, false])
    func contradiction(range: String, tellsLength: Bool) async throws {
        let place = try await broken()
        place.server.change { ($0.range, $0.tellsLength) = (range, tellsLength) }
        _ = try await place.request(place.download())
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-", nil])
    }

    @Test(
        "What came in an answer that was longer than it said isn't gone on with, also if the whole can't be had just then",
        arguments: [false, true])
    func longerThanItSaid(hasDigest: Bool) async throws {
        let place = try await broken()
        var download = place.download()
        if hasDigest { download.sha256 = SHA256.hex(of: place.bytes) }
        let wrong = ObjectTransport(filling(10_000, seed: 2)) {
            ($0.range, $0.tellsLength) = ("bytes 4000-5999/10000", false)
        }
        let service = try HTTPService(
            ScriptedTransport { request in
                guard request.headers["Range"] != nil else { throw ObjectTransport.Broken() }
                return try await wrong.send(request)
            })
        await #expect(throws: HTTPError.self) {
            try await DownloadProvider(service, files: place.files).request(download)
        }
        // All of what fits has been written before it was known.
        #expect(wrong.sentBytes == 3_000 && place.partLength == 4_000 && place.files.openFiles == 0)
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-"])
    }

    @Test(
        "An answer that isn't taken takes away nothing that others have brought before it", arguments: [false, true])
    func refusedBehindOthers(isTooLong: Bool) async throws {
        let place = try await broken()
        place.server.change {
            $0.most = 2_000
            if isTooLong { ($0.extra, $0.tellsLength) = (Data(count: 1_000), false) }
        }
        let service = try HTTPService(
            ScriptedTransport { request in
                if request.headers["Range"] == "bytes=4000-" { return try await place.server.send(request) }
                return .text("Sign in first.", headers: ["Content-Length": "14"])
            })
        var download = place.download()
        download.size = 10_000
        await #expect(throws: TransferError.size(expected: 10_000, found: 14)) {
            try await DownloadProvider(service, files: place.files).request(download)
        }
        let kept = isTooLong ? 4_000 : 6_000
        #expect(place.partLength == kept && place.files.openFiles == 0)
        place.server.change { ($0.most, $0.extra, $0.tellsLength) = (.max, Data(), true) }
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-", "bytes=\(kept)-"])
    }

    @Test("A part that can't be cut to what is known of it isn't gone on with")
    func longerThanItSaidAndUncut() async throws {
        let place = try await broken()
        place.server.change { ($0.range, $0.tellsLength) = ("bytes 4000-5999/10000", false) }
        place.files.failNext(.cut)
        #expect(await place.error() == .refused(call: "cut", code: EIO))
        place.server.change { ($0.range, $0.tellsLength) = (nil, true) }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-", nil])
    }

    /// What may stand where a part is to be, and isn't one.
    enum Stranger: CaseIterable {
        case plain, empty, hidden, linked, leftSidecar, leftNewSidecar, otherSidecar
    }

    @Test(
        "A file of somebody else's that stands where the part is to be stays, whatever the server says",
        arguments: Stranger.allCases)
    func somebodyElses(stranger: Stranger) async throws {
        let place = stranger == .leftSidecar ? try await broken() : try Downloading()
        let theirs = stranger == .empty ? Data() : Data("not ours, and no longer than a part".utf8)
        if stranger == .leftSidecar {
            // Often it gets the number of the part that is gone.
            try FileManager.default.removeItem(at: place.part)
        }
        try theirs.write(to: place.part)
        #expect(chmod(place.part.path, stranger == .hidden ? 0o600 : 0o644) == 0)
        switch stranger {
        case .linked:
            try FileManager.default.linkItem(at: place.part, to: place.folder.url.appendingPathComponent("other"))
        case .leftNewSidecar:
            // As a process leaves it that ended while it looked at who may read new files.
            try Data().write(to: place.sidecar.appendingPathExtension("new"))
        case .otherSidecar: try Data("[info]".utf8).write(to: place.sidecar)
        case .plain, .empty, .hidden, .leftSidecar: break
        }
        let asked = place.server.asked.count
        for status in [nil, 404] {
            place.server.change { $0.status = status }
            for onCancel in [ServiceDownload.CancelledPart.keep, .remove] {
                var download = place.download()
                download.onCancel = onCancel
                #expect(await place.error(download) == .destinationExists("map.bin.part"))
            }
        }
        try await place.provider.discard(place.download())
        #expect(try Data(contentsOf: place.part) == theirs)
        #expect(place.server.asked.count == asked && place.files.openFiles == 0)
        #expect(!place.names.contains("map.bin"))
    }

    @Test(
        "A part to which somebody else writes as well becomes no file, and isn't gone on with",
        arguments: [false, true])
    func twoWriters(breaks: Bool) async throws {
        let gate = Signal()
        let place = try Downloading { $0.holds = (after: 3_000, gate) }
        let request = Task { try await place.request() }
        try await place.server.log.contains("3000")
        let other = try FileHandle(forWritingTo: place.part)
        try other.write(contentsOf: Data(count: 12_000))
        try other.close()
        if breaks { place.server.change { $0.breaksAfter = 5_000 } }
        gate.open()
        await #expect(throws: (any Error).self) { try await request.value }
        #expect(!place.names.contains("map.bin"))
        place.server.change { ($0.holds, $0.breaksAfter) = (nil, nil) }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, nil])
    }

    @Test("A request that fails takes nothing away that it hasn't touched, and leaves nothing of its own")
    func untouched() async throws {
        let place = try Downloading { $0.status = 404 }
        await #expect(throws: HTTPError.self) { try await place.request() }
        #expect(place.names.isEmpty)
        // This user's alone, and with a sidecar that nobody can read: nobody knows what it is of.
        try Data("of what?".utf8).write(to: place.part)
        #expect(chmod(place.part.path, 0o600) == 0)
        try Data().write(to: place.sidecar)
        await #expect(throws: HTTPError.self) { try await place.request() }
        #expect(try Data(contentsOf: place.part) == Data("of what?".utf8))
        place.server.change { $0.status = nil }
        _ = try await place.request()
        #expect(place.isWhole())
    }

    @Test("A center takes nothing of somebody else's away either, whatever becomes of the download")
    func somebodyElsesInACenter() async throws {
        let place = try Downloading()
        try Data("mine".utf8).write(to: place.part)
        #expect(chmod(place.part.path, 0o600) == 0)
        let center = TransferCenter(try HTTPService(place.server))
        center.download(place.download(), id: "a")
        await #expect(throws: TransferError.destinationExists("map.bin.part")) { try await center.result(of: "a") }
        center.cancel("a")
        center.remove("a")
        await center.close()
        #expect(try Data(contentsOf: place.part) == Data("mine".utf8) && place.names == ["map.bin.part"])
    }

    @Test("A file in its place is the download's only if that was about to get there", arguments: [false, true])
    func numberOfThePart(isReplaced: Bool) async throws {
        let place = try await broken()
        // As a new file may get the number of the part that is gone.
        try FileManager.default.moveItem(at: place.part, to: place.file)
        let theirs = Data(repeating: 7, count: 10_000)
        let handle = try FileHandle(forWritingTo: place.file)
        try handle.write(contentsOf: theirs)
        try handle.close()
        var download = place.download()
        download.existing = isReplaced ? .replace : .refuse
        var landing = try POSIXFiles().status(at: place.file.path)
        landing.size -= 1
        let record = TransferRecord.Landing(file: landing, suggestedName: nil, of: download)
        #expect(try await place.provider.landed(download, record) == nil)
        if isReplaced {
            _ = try await place.request(download)
            #expect(place.isWhole())
        } else {
            #expect(await place.error(download) == .destinationExists("map.bin"))
            #expect(try Data(contentsOf: place.file) == theirs)
        }
    }

    @Test("Where a download is refused, nothing stays of a part that a process has left empty")
    func leftEmpty() async throws {
        let place = try await broken()
        let part = try FileHandle(forWritingTo: place.part)
        try part.truncate(atOffset: 0)
        try part.close()
        try Data("mine".utf8).write(to: place.file)
        #expect(await place.error() == .destinationExists("map.bin"))
        #expect(place.names == ["map.bin"] && place.files.openFiles == 0)
    }

    @Test("Whoever never gets the part to itself gives up")
    func neverAlone() async throws {
        let place = try Downloading()
        let other = place.folder.url.appendingPathComponent("other").path
        // Whenever it is looked at, another file stands there.
        @Sendable func exchange() {
            try? Data().write(to: URL(fileURLWithPath: other))
            rename(other, place.part.path)
            chmod(place.part.path, 0o600)
            place.files.before(.lock, exchange)
        }
        place.files.before(.lock, exchange)
        #expect(await place.error() == .partLost("map.bin.part"))
        #expect(place.files.openFiles == 0)
        // It holds the place that holds it, and so the folder would stay.
        place.files.before(.lock) {}
    }

    @Test("A finished download is nobody's part, whatever its name")
    func namedLikeAPart() async throws {
        let place = try Downloading()
        let named = ServiceDownload(
            ServiceRequest(.get, "/map"), to: .file(place.folder.url.appendingPathComponent("film.part")))
        let film = ServiceDownload(
            ServiceRequest(.get, "/map"), to: .file(place.folder.url.appendingPathComponent("film")))
        _ = try await place.request(named)
        await #expect(throws: TransferError.destinationExists("film.part")) { try await place.request(film) }
        #expect(place.names == ["film.part"])
    }
}
