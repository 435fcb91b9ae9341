import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Records, and what they are good for at the next start.
extension TransferCenterTests {
    @Test("A new request of one that was done isn't taken for done at the next start")
    func updated() async throws {
        let first = try await TransferCenter(try service(), folder: records.url, width: 1)
        var map = download("a")
        map.existing = .replace
        first.download(map, id: "a")
        _ = try await first.result(of: "a")
        objects["a"].change {
            ($0.bytes, $0.tag, $0.breaksAfter) = (filling(20_000, seed: 99), "\"v2\"", 15_000)
        }
        first.download(map, id: "a")
        _ = try? await first.result(of: "a")
        await first.close()
        objects["a"].change { $0.breaksAfter = nil }
        let second = try await TransferCenter(try service(), folder: records.url, width: 1)
        guard case .paused? = second.state(of: "a") else { throw Violation("not paused") }
        #expect(names == ["a", "a.part", "a.part.info"])
        second.resume("a")
        #expect(try await second.result(of: "a").file?.size == 20_000)
        #expect(isWhole("a") && objects["a"].sentBytes == 30_000)
    }

    @Test(
        "A cancel as the file lands holds when that fails, also if the center is closed meanwhile, or the process ends")
    func cancelledAsItLandsAndEnds() async throws {
        for closes in [true, false] {
            let files = FaultyFiles()
            let core = try core(files, width: 1, isKept: true)
            let center = TransferCenter(core)
            files.before(.link) {
                core.cancel("a", keeping: false)
                if closes { core.close() } else { files.fail(each: .remove, EIO) }
                files.failNext(.link)
            }
            center.download(download("a"), id: "a")
            for await _ in center.states(of: "a") {}
            await center.close()
            #expect(try records.names().isEmpty)
            #expect(names == (closes ? [] : ["a.part", "a.part.info"]))
            for name in names { try FileManager.default.removeItem(at: file(name)) }
        }
    }

    @Test("A cancel as the file lands is on the disk, and so is that it has landed", arguments: [true, false])
    func cancelledAsTheProcessEnds(hasLanded: Bool) async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let center = TransferCenter(core)
        let (later, copied) = (try TemporaryFolder(), Signal())
        files.before(.link) {
            core.cancel("a", keeping: false)
            // Whatever was asked for before is on the disk by then.
            copyRecords(of: core, to: later)
            copied.open()
            if !hasLanded { files.failNext(.link) }
            files.fail(each: .remove, EIO)
        }
        center.download(download("a"), id: "a")
        try await copied.wait()
        for await _ in center.states(of: "a") {}
        await center.close()
        #expect(names.contains("a") == hasLanded && names.contains("a.part"))
        let second = try await TransferCenter(try service(), folder: later.url)
        if hasLanded {
            #expect(try await second.result(of: "a").file?.url == file("a"))
        } else {
            #expect(second.ids.isEmpty)
        }
        await second.close()
        #expect(try names == (hasLanded ? ["a"] : []) && later.names().isEmpty)
    }

    /// Lets a download break off, and its part be found and removed by the next process.
    private func removeByTheNext(_ map: ServiceDownload) async throws {
        let first = try await TransferCenter(try service(), folder: records.url)
        first.download(map, id: "x")
        _ = try? await first.result(of: "x")
        await first.close()
        let second = try await TransferCenter(try service(), folder: records.url)
        #expect(second.progress().completed == 4_000)
        second.cancel("x")
        await second.close()
        #expect(try names.isEmpty && records.names().isEmpty)
    }

    @Test("A link that isn't kept is no loss for its part: the same name finds it, and removes it")
    func signedLink() async throws {
        objects["world.bin"].change { $0.breaksAfter = 4_000 }
        let link = try #require(URL(string: "https://h/v1/world.bin?token=abc"))
        let map = ServiceDownload(ServiceRequest(.get, link: link), to: .folder(folder.url))
        try await removeByTheNext(map)
    }

    @Test("What the service alone calls a secret is on no disk, and in no name", arguments: [true, false])
    func ownSecrets(isFolder: Bool) async throws {
        objects["s3cret"].change { $0.breaksAfter = 4_000 }
        var service = try service()
        service.configuration.redaction = .standard.adding(["ticket"])
        let first = try await TransferCenter(service, folder: records.url)
        let request = ServiceRequest(.get, "/maps/{ticket}", pathParameters: ["ticket": "s3cret"])
        first.download(ServiceDownload(request, to: isFolder ? .folder(folder.url) : .file(file("a"))), id: "x")
        _ = try? await first.result(of: "x")
        await first.close()
        let files = try records.names().map { records.url.appendingPathComponent($0) } + names.map { file($0) }
        #expect(files.count == 3)
        for url in files {
            let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
            #expect(!text.contains("s3cret") && !url.path.contains("s3cret"))
        }
    }

    @Test(
        "What isn't shown of a request is on no disk, whatever it is called there",
        arguments: [
            ServiceRequest(.get, "/open/{url}/a", pathParameters: ["url": "https://app/cb?token=s3cret"]),
            ServiceRequest(.get, "/maps/a", query: ["next": "https://app/cb?token=s3cret"]),
            ServiceRequest(.get, "/maps/a", query: ["all": ["https://app/", "https://ada:s3cret@app/"]]),
            ServiceRequest(.get, "/maps/a", query: ["name": "token", "value": "s3cret"]),
            ServiceRequest(.get, "/maps/a", headers: ["Referer": "https://app/cb?token=s3cret"]),
        ])
    func hiddenSecrets(request: ServiceRequest) async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let first = try await TransferCenter(try service(), folder: records.url)
        first.download(ServiceDownload(request, to: .file(file("a"))), id: "x")
        _ = try? await first.result(of: "x")
        await first.close()
        let files = try records.names().map { records.url.appendingPathComponent($0) } + names.map { file($0) }
        #expect(files.count == 3)
        for url in files { #expect(try !String(decoding: Data(contentsOf: url), as: UTF8.self).contains("s3cret")) }
        let second = try await TransferCenter(try service(), folder: records.url)
        second.resume("x")
        await #expect(throws: TransferError.requestNeeded) { try await second.result(of: "x") }
        await second.close()
    }

    @Test("a record with any bit flipped is refused")
    func flippedBits() throws {
        var map = download("a")
        map.request.query = ["page": 2]
        let data = try #require(TransferRecord("id", .download(map), .high, turn: 7)?.encoded())

        let taken = (0..<data.count * 8).filter { bit in
            var flipped = data
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            return TransferRecord(flipped) != nil
        }

        #expect(taken.isEmpty)
    }

    /// A record with other contents, and the digest of those.
    private func resealed(_ record: String, _ change: (String) -> String) -> String {
        let lines = record.split(separator: "\n", maxSplits: 1)
        let body = lines.last.map(String.init) ?? ""
        return lines[0].replacing(SHA256.hex(of: body.utf8), with: SHA256.hex(of: change(body).utf8)) + "\n"
            + change(body)
    }

    @Test("Records that nobody can have written are left out, and do no harm")
    func wildRecords() async throws {
        let text = try #require(
            TransferRecord("id", .download(download("a")), .high, turn: 123_456)?.encoded().map {
                String(decoding: $0, as: UTF8.self)
            })
        var timed = download("a")
        (timed.request.idleTimeout, timed.request.totalTimeout) = (.seconds(77), .seconds(88))
        let times = try #require(
            TransferRecord("id", .download(timed), .high)?.encoded().map { String(decoding: $0, as: UTF8.self) })
        let name = "\(SHA256.hex(of: "id".utf8).prefix(32)).transfer"
        let wild = [
            (name, resealed(text) { $0.replacing("123456", with: "\(Int.max)") }),
            (name, resealed(text) { $0.replacing("123456", with: "-1") }),
            (name, resealed(times) { $0.replacing("77", with: "1e300") }),
            (name, resealed(times) { $0.replacing("88", with: "-1e300") }),
            // Found again at each start, whatever becomes of it.
            ("other.transfer", text),
        ]
        for (name, text) in wild {
            let url = try records.file(name, text)
            let center = try await TransferCenter(try service(), folder: records.url)
            #expect(center.ids.isEmpty)
            center.download(download("b"), id: "b")
            center.pause("b")
            center.remove("b")
            await center.close()
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test("A priority is kept, also of one that has failed")
    func priorityOfFailed() async throws {
        for id in ["a", "b"] { objects[id].change { $0.breaksAfter = 4_000 } }
        let first = try await TransferCenter(try service(), folder: records.url)
        for id in ["a", "b"] {
            first.download(download(id), id: id, priority: .low)
            _ = try? await first.result(of: id)
        }
        first.setPriority(.high, of: "b")
        await first.close()
        let signals = hold(["c"])
        let second = try await TransferCenter(try service(), folder: records.url, width: 1)
        second.download(download("c"), id: "c", priority: .high)
        second.resumeAll()
        for id in ["a", "b"] { objects[id].change { $0.breaksAfter = nil } }
        signals["c"]?.open()
        for id in ["a", "b"] { _ = try await second.result(of: id) }
        #expect(objects.asked.entries.suffix(3) == ["c", "b", "a"])
    }

    @Test("A secret in a path is no loss for its part: it is found, removed, and known where it has landed")
    func secretInThePath() async throws {
        let secret = ServiceDownload(
            ServiceRequest(.get, "/maps/{token}", pathParameters: ["token": "s3cret"]), to: .file(file("a")))
        objects["s3cret"].change { $0.breaksAfter = 4_000 }
        try await removeByTheNext(secret)
        objects["s3cret"].change { $0.breaksAfter = nil }
        guard case .finished? = try await nextState(landing: secret) else { throw Violation("not finished") }
    }

    @Test("What lands is known by the next process, also if it was asked for again by then")
    func askedForAsItLands() async throws {
        let map = download("a")
        guard case .finished? = try await nextState(landing: map, again: map) else { throw Violation("not finished") }
    }

    /// What a process says of a download that finds what the one before had written down as the file got its name.
    private func nextState(landing map: ServiceDownload, again: ServiceDownload? = nil) async throws -> TransferState? {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let center = TransferCenter(core)
        let later = try TemporaryFolder()
        files.before(.link) {
            if let again { core.add("a", .download(again), .normal) }
            copyRecords(of: core, to: later)
        }
        center.download(map, id: "a")
        _ = try await center.result(of: "a")
        await center.close()
        return try await TransferCenter(try service(), folder: later.url).state(of: "a")
    }

    @Test("One that was forgotten as it landed, and the center closed, leaves no record")
    func forgottenAndClosed() async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let center = TransferCenter(core)
        files.before(.link) {
            core.remove("a")
            core.close()
        }
        center.download(download("a"), id: "a")
        for await _ in center.states(of: "a") {}
        await center.close()
        #expect(try records.names().isEmpty && names == ["a"])
    }

    @Test("What was being written when a process ended doesn't stay")
    func halfWritten() async throws {
        _ = try records.file("\(SHA256.hex(of: "id".utf8).prefix(32)).transfer.new", "{")
        await (try await TransferCenter(try service(), folder: records.url)).close()
        #expect(try records.names().isEmpty)
    }

    @Test("What a cancelled one has left stays at the next start if another one goes on with it")
    func cancelledAndGoingOn() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let provider = DownloadProvider(try service())
        _ = try? await provider.request(download("a"))
        func write(_ id: String, _ turn: Int, isCancelled: Bool) throws {
            let record = TransferRecord(
                id, .download(provider.named(download("a"))), .normal, turn: turn, isCancelled: isCancelled)
            _ = try records.file("\(SHA256.hex(of: id.utf8).prefix(32)).transfer", try #require(record?.encoded()))
        }
        try write("one", 1, isCancelled: true)
        try write("two", 2, isCancelled: false)
        let center = try await TransferCenter(try service(), folder: records.url)
        await center.close()
        #expect(names == ["a.part", "a.part.info"] && center.ids == ["two"])
    }
}
