import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// The end of a process, and of a center, and what is there again afterwards.
extension TransferCenterTests {
    @Test("Downloads that weren't done are there again, paused, as far as they had come")
    func rebuilt() async throws {
        _ = hold(["a", "b"])
        var first: TransferCenter? = try await TransferCenter(try service(), folder: records.url, width: 1)
        for id in ["a", "b"] { first?.download(download(id), id: id, priority: id == "b" ? .low : .high) }
        objects["done"].change { $0.holds = nil }
        try await objects["a"].log.contains("3000")
        let follower = first?.states(of: "a")
        await first?.close()
        first = nil
        // Whoever followed comes to an end.
        for await _ in try #require(follower) {}
        for id in ["a", "b"] { objects[id].change { $0.holds = nil } }

        let second = try await TransferCenter(try service(), folder: records.url, width: 1)
        #expect(second.ids == ["a", "b"])
        for id in ["a", "b"] {
            guard case .paused? = second.state(of: id) else { throw Violation("\(id) isn't paused") }
        }
        second.resumeAll()
        for id in ["a", "b"] { _ = try await second.result(of: id) }
        #expect(isWhole("a") && isWhole("b") && objects["a"].sentBytes <= 10_001)
        await second.close()
        let third = try await TransferCenter(try service(), folder: records.url)
        #expect(third.ids.isEmpty)
    }

    @Test("Progress doesn't go back at the next start either, also if there is another object by then")
    func anotherObject() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let first = try await TransferCenter(try service(), folder: records.url)
        first.download(download("a"), id: "a")
        _ = try? await first.result(of: "a")
        await first.close()
        objects["a"].change {
            $0.breaksAfter = nil
            $0.tag = "\"another\""
        }
        let second = try await TransferCenter(try service(), folder: records.url)
        let heard = Observed<[Int64]>([])
        second.watch { _, state in
            if let progress = state?.progress { heard.change { $0.append(progress.completed) } }
        }
        second.resume("a")
        _ = try await second.result(of: "a")
        await second.close()
        #expect(heard.value.first == 4_000 && heard.value == heard.value.sorted())
        #expect(isWhole("a") && objects["a"].sentBytes > 13_000)
    }

    @Test("No secret is on the disk: a request that held one is asked for anew, and goes on with the part")
    func secrets() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        var download = download("a")
        download.request.query = ["page": 1, "signature": "secret1", "customer": "secret3"]
        download.request.headers = ["Authorization": "Bearer secret2", "Accept": "x/y"]
        var service = try service()
        service.configuration.redaction = ServiceRedaction.none.adding(["customer"])
        var first: TransferCenter? = try await TransferCenter(service, folder: records.url)
        first?.download(download, id: "a/../b")
        _ = try? await first?.result(of: "a/../b")
        await first?.close()
        first = nil
        let names = try records.names()
        #expect(names.count == 1)
        for name in names {
            let url = records.url.appendingPathComponent(name)
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(!text.contains("secret") && text.contains("page"))
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        objects["a"].change { $0.breaksAfter = nil }
        let second = try await TransferCenter(service, folder: records.url)
        #expect(second.progress().completed == 4_000 && second.progress().total == 10_000)
        second.resume("a/../b")
        await #expect(throws: TransferError.requestNeeded) { try await second.result(of: "a/../b") }
        second.download(download, id: "a/../b")
        _ = try await second.result(of: "a/../b")
        #expect(isWhole("a") && objects["a"].sentBytes == 10_000)
    }

    @Test("A record has all of a request but its secrets, and one that is damaged is left out")
    func recordsKept() async throws {
        var download = download("a")
        download.request = ServiceRequest(
            .get, "/{x}/b", pathParameters: ["x": "é"], query: ["one": 1, "many": ["x", "y"], "none": nil],
            headers: ["Accept": "a", "accept": "b"], idleTimeout: .milliseconds(1_500))
        download.request.query.listStyle = .brackets
        download.existing = .number
        download.request.totalTimeout = .seconds(90)
        (download.size, download.sha256, download.object, download.durability) = (5, "ab", "o", .power)
        let record = try #require(TransferRecord("id", .download(download), .high))
        let data = try #require(record.encoded())
        guard case .download(let found)? = TransferRecord(data)?.work else { throw Violation("no record") }
        #expect("\(found.request)" == "\(download.request)" && found.request.headers == download.request.headers)
        #expect(found.request.idleTimeout == .milliseconds(1_500) && found.request.totalTimeout == .seconds(90))
        #expect(found.request.query.listStyle == .brackets)
        #expect(found.destination == download.destination && found.existing == .number && found.size == 5)
        #expect(found.sha256 == "ab" && found.object == "o" && found.durability == .power)
        #expect(TransferRecord(data.dropLast()) == nil && TransferRecord(Data()) == nil)
        #expect(TransferRecord("u", .upload(download.request), .normal) == nil)
        _ = try records.file("x.transfer", "{}")
        _ = try records.file(
            "y.transfer", String(decoding: data, as: UTF8.self).replacing("idm-transfer 1", with: "idm-transfer 2"))
        let center = try await TransferCenter(try service(), folder: records.url)
        #expect(center.ids.isEmpty)
    }

    @Test("A file that was in its place before anybody was told is known at the next start", arguments: [true, false])
    func landed(hasTag: Bool) async throws {
        let files = FaultyFiles()
        objects["a"].change {
            if !hasTag { $0.tag = nil }
            $0.headers["Content-Disposition"] = "attachment; filename=world.bin"
        }
        let core = try core(files, width: 1, isKept: true)
        let first = TransferCenter(core)
        let later = try TemporaryFolder()
        // What a process that ended there would have left in the other folder.
        files.before(.link) {
            copyRecords(to: later)
        }
        var download = ServiceDownload(ServiceRequest(.get, "/maps/a"), to: .folder(folder.url), existing: .number)
        download.request.headers[.authorization] = "Bearer x"
        first.download(download, id: "a")
        let file = try #require(try await first.result(of: "a").file)
        #expect(file.url.lastPathComponent == "world.bin")
        #expect(try later.names().count == 1)

        let second = try await TransferCenter(try service(), folder: later.url)
        #expect(try await second.result(of: "a").file == file && names == ["world.bin"])
        await second.close()
        #expect(try later.names().isEmpty && objects["a"].asked.count == 1)
    }

    @Test("A file that was about to get its name, and didn't, is gone on with")
    func notLanded() async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let first = TransferCenter(core)
        files.fail(each: .link, EIO)
        first.download(download("a"), id: "a")
        await #expect(throws: TransferError.refused(call: "link", code: EIO)) { try await first.result(of: "a") }
        await first.close()
        let second = try await TransferCenter(try service(), folder: records.url)
        guard case .paused? = second.state(of: "a") else { throw Violation("not paused") }
        second.resume("a")
        _ = try await second.result(of: "a")
        #expect(isWhole("a") && names == ["a"] && objects["a"].sentBytes == 10_001)
    }

    @Test("An upload leaves no record, and none of the download that had its id")
    func uploadInPlace() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let first = try await TransferCenter(try service(), folder: records.url)
        first.download(download("a"), id: "x")
        _ = try? await first.result(of: "x")
        first.upload(ServiceRequest(.put, "/maps/b", body: .text("x")), id: "x")
        _ = try await first.result(of: "x")
        await first.close()
        #expect(try records.names().isEmpty)
    }

    @Test("A center is closed when what it removes has been removed")
    func closedWhileRemoving() async throws {
        for _ in 0..<20 {
            objects["a"].change { $0.breaksAfter = 4_000 }
            let center = TransferCenter(try service())
            center.download(download("a"), id: "a")
            _ = try? await center.result(of: "a")
            #expect(names.count == 2)
            center.cancel("a")
            await center.close()
            #expect(names.isEmpty)
        }
    }

    @Test("A center is closed when what was cancelled just before has been removed", arguments: [true, false])
    func closedAfterCancelling(isPaused: Bool) async throws {
        for id in (0..<20).map({ "map\($0)" }) {
            let signals = hold([id])
            let center = TransferCenter(try service())
            center.download(download(id), id: id)
            try await objects[id].log.contains("3000")
            if isPaused { center.pause(id) }
            center.cancel(id)
            await center.close()
            #expect(names.isEmpty)
            signals[id]?.open()
        }
    }

    @Test("What a process that ended had still to remove, the next one removes", arguments: [true, false])
    func removedByTheNext(isSecret: Bool) async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let first = TransferCenter(core)
        let signals = hold(["a"])
        var download = download("a")
        if isSecret { download.request.headers[.authorization] = "Bearer x" }
        first.download(download, id: "a")
        try await objects["a"].log.contains("3000")
        let later = try TemporaryFolder()
        // As a process would have left it that ended there.
        files.before(.remove) {
            copyRecords(to: later)
            files.fail(each: .remove, EIO)
        }
        first.cancel("a")
        signals["a"]?.open()
        await first.close()
        #expect(try names == ["a.part", "a.part.info"] && records.names().isEmpty && later.names().count == 1)

        let second = try await TransferCenter(try service(), folder: later.url)
        #expect(second.ids.isEmpty && second.state(of: "a") == nil)
        second.download(self.download("b"), id: "a")
        _ = try await second.result(of: "a")
        await second.close()
        #expect(try names == ["b"] && later.names().isEmpty)
    }

    @Test("Those of a process that has ended are in the line as they were, and those that come later behind them")
    func lineAgain() async throws {
        let ids = ["z", "m", "a", "y", "b"]
        // Or one may be whole before it is paused.
        _ = hold(ids)
        for (known, count) in [(0, 3), (3, 4), (4, 5)] {
            let center = try await TransferCenter(try service(), folder: records.url)
            #expect(center.ids == Array(ids.prefix(known)))
            for id in ids[known..<count] {
                center.download(download(id), id: id)
                center.pause(id)
            }
            await center.close()
        }
        #expect(try await TransferCenter(try service(), folder: records.url).ids == ids)
    }

    @Test("One that is paused goes on with the request that it is asked for with again, as a new signature needs")
    func signedAnew() async throws {
        let signals = hold(["a"])
        let files = FaultyFiles()
        let center = TransferCenter(try core(files, width: 1))
        var download = download("a")
        download.request.query = ["signature": "old"]
        center.download(download, id: "a")
        try await pauseHalfway(center, files)
        download.request.query = ["signature": "new"]
        center.download(download, id: "a")
        signals["a"]?.open()
        _ = try await center.result(of: "a")
        #expect(isWhole("a"))
        let asked = objects["a"].asked
        #expect(asked.last?.url.query == "signature=new" && asked.last?.headers["Range"] == "bytes=3000-")
        #expect(asked.dropFirst().allSatisfy { $0.url.query == "signature=new" })
    }

    @Test(
        "A link that the server gave is kept with the base of its own, unless one of them holds a secret",
        arguments: [
            ("/maps/a?page=2", nil, false), ("a?page=2", "https://h/v1/maps/", false),
            ("/maps/a?token=secret1", nil, true), ("a", "https://ada:secret1@h/v1/maps/", true),
            ("#top", "https://h/v1/maps/a?token=secret1", true),
        ])
    func link(text: String, base: String?, isSecret: Bool) throws {
        let link = try #require(URL(string: text, relativeTo: base.flatMap { URL(string: $0) }))
        var download = download("a")
        download.request = ServiceRequest(link: link)
        download.request.cachePolicy = .reload
        let data = try #require(TransferRecord("id", .download(download), .high)?.encoded())
        switch (TransferRecord(data)?.work, isSecret) {
        case (.download(let found)?, false):
            #expect(found.request.link?.absoluteString == link.absoluteString)
            #expect(found.request.cachePolicy == .reload)
        case (.incomplete?, true): #expect(!String(decoding: data, as: UTF8.self).contains("secret1"))
        case (let work, _): Issue.record("\(String(describing: work))")
        }
    }

    @Test("When nobody holds a center any more its transfers end, and keep what has come")
    func released() async throws {
        let signals = hold(["a", "b"])
        let files = FaultyFiles()
        let service = try service()
        let core = TransferCore(
            DownloadProvider(service, files: files), UploadProvider(service), width: 1, archive: nil)
        var center: TransferCenter? = TransferCenter(core)
        center?.download(download("a"), id: "a")
        center?.download(download("b"), id: "b")
        try await objects["a"].log.contains("3000")
        let states = try #require(center?.states(of: "b"))
        center = nil
        for await state in states { #expect(!state.isOver) }
        try await files.allClosed()
        #expect(names == ["a.part", "a.part.info"] && objects["b"].asked.isEmpty && !(signals["a"]?.isOpen ?? true))
        #expect(try Data(contentsOf: file("a.part")).count == 3_000)
    }

    @Test("A place that is no folder is told")
    func noFolder() async throws {
        let file = try folder.file("file", "x")
        await #expect(throws: TransferError.self) { try await TransferCenter(try service(), folder: file) }
        let url = try #require(URL(string: "https://h/x"))
        await #expect(throws: TransferError.notAFile("x")) { try await TransferCenter(try service(), folder: url) }
        // A mark that a slash is joined to is of the name.
        let inside = URL(fileURLWithPath: "\(file.path)/\u{301}x")
        await #expect(throws: TransferError.notPermitted("\u{301}x")) {
            try await TransferCenter(try service(), folder: inside)
        }
    }

    /// What a process that ended now would leave, in another folder.
    func copyRecords(to later: TemporaryFolder) {
        for name in (try? records.names()) ?? [] {
            try? FileManager.default.copyItem(
                at: records.url.appendingPathComponent(name), to: later.url.appendingPathComponent(name))
        }
    }

    /// What a process that ended once everything asked of this center was on the disk would leave. For a thread that is
    /// nobody's.
    func copyRecords(of core: TransferCore, to later: TemporaryFolder) {
        let settled = DispatchSemaphore(value: 0)
        Task {
            await core.settle()
            settled.signal()
        }
        settled.wait()
        copyRecords(to: later)
    }
}
