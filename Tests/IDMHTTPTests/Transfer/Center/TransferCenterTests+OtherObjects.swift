import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Transfers of several objects into one place.
extension TransferCenterTests {
    /// How the one that was first in a place has stopped there.
    enum Rest: CaseIterable {
        case paused, failed, found, nothing
    }

    @Test(
        "What a transfer may go on with isn't overwritten by one of another object, as long as there is any of it",
        arguments: Rest.allCases)
    func keptFromAnother(rest: Rest) async throws {
        let signals = hold(["a"])
        objects["a"].change {
            if rest == .failed { ($0.holds, $0.breaksAfter) = (nil, 3_000) }
            if rest == .nothing { $0.tag = nil }
        }
        let files = FaultyFiles()
        var center = TransferCenter(try core(files, width: 2, isKept: true))
        center.download(download("a"), id: "a")
        if rest == .failed {
            await #expect(throws: HTTPError.self) { try await center.result(of: "a") }
        } else {
            try await pauseHalfway(center, files)
        }
        if rest == .found {
            await center.close()
            center = try await TransferCenter(try service(), folder: records.url)
        }
        objects["a"].change { ($0.holds, $0.breaksAfter) = (nil, nil) }
        center.download(
            ServiceDownload(ServiceRequest(.get, "/maps/b"), to: .file(file("a")), existing: .replace), id: "b")
        if rest == .nothing {
            _ = try await center.result(of: "b")
            #expect(try Data(contentsOf: file("a")) == objects["b"].bytes)
        } else {
            try await expectKept(center)
        }
        signals["a"]?.open()
        await center.close()
        #expect(names == ["a"])
    }

    @Test("What a transfer has of an object is another one's of the same object as well, also while it is paused")
    func sharedByTheSame() async throws {
        let signals = hold(["a"])
        let files = FaultyFiles()
        let center = TransferCenter(try core(files, width: 2))
        center.download(download("a"), id: "a")
        try await pauseHalfway(center, files)
        signals["a"]?.open()
        center.download(download("a"), id: "b")
        _ = try await center.result(of: "b")
        #expect(isWhole("a") && objects["a"].sentBytes == 10_000)
        await center.close()
    }

    @Test("What is asked for as another one of the same object is paused waits until that has left the place")
    func whilePausing() async throws {
        for round in 0..<Volume.of(200, normally: 20) {
            let id = "map\(round)"
            _ = hold([id])
            let center = TransferCenter(try service())
            center.download(download(id), id: "one")
            try await objects[id].log.contains("3000")
            objects[id].change { $0.holds = nil }
            center.pause("one")
            center.download(download(id), id: "two")
            _ = try await center.result(of: "two")
            await center.close()
            #expect(isWhole(id) && objects[id].sentBytes == 10_000)
        }
    }

    /// Expects that "b" doesn't get the place in which "a" rests, and that this goes on with what it has there.
    private func expectKept(_ center: TransferCenter) async throws {
        await #expect(throws: TransferError.inUse("a.part")) { try await center.result(of: "b") }
        #expect(objects["b"].asked.isEmpty)
        center.remove("b")
        center.resume("a")
        _ = try await center.result(of: "a")
        #expect(isWhole("a") && objects["a"].sentBytes == 10_000)
    }

    /// Another name of the folder.
    private func link(in other: TemporaryFolder) throws -> URL {
        let link = other.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        return link
    }

    @Test("By another name of its folder nobody takes what a paused transfer has", arguments: [false, true])
    func keptByAnotherName(isFound: Bool) async throws {
        let links = try TemporaryFolder()
        let place = try link(in: links).appendingPathComponent("a")
        let signals = hold(["a"])
        let files = FaultyFiles()
        var center = TransferCenter(try core(files, width: 2, isKept: true))
        center.download(download("a"), id: "a")
        try await pauseHalfway(center, files)
        if isFound {
            await center.close()
            center = try await TransferCenter(try service(), folder: records.url)
        }
        objects["a"].change { $0.holds = nil }
        center.download(ServiceDownload(ServiceRequest(.get, "/maps/b"), to: .file(place), existing: .replace), id: "b")
        try await expectKept(center)
        signals["a"]?.open()
        await center.close()
        #expect(names == ["a"])
    }

    @Test("What another one goes on with by another name of the folder isn't removed", arguments: [false, true])
    func sharedByAnotherName(isFound: Bool) async throws {
        let links = try TemporaryFolder()
        let place = try link(in: links).appendingPathComponent("a")
        var center = try await TransferCenter(try service(), folder: records.url)
        for (id, end, url) in [("one", 3_000, file("a")), ("two", 2_000, place)] {
            objects["a"].change { $0.breaksAfter = end }
            center.download(ServiceDownload(ServiceRequest(.get, "/maps/a"), to: .file(url)), id: id)
            await #expect(throws: HTTPError.self) { try await center.result(of: id) }
        }
        objects["a"].change { $0.breaksAfter = nil }
        if isFound {
            await center.close()
            center = try await TransferCenter(try service(), folder: records.url)
        }
        center.remove("one")
        await center.close()
        #expect(names == ["a.part", "a.part.info"])
        center = try await TransferCenter(try service(), folder: records.url)
        center.resume("two")
        #expect(try await center.result(of: "two").file?.url == place)
        await center.close()
        #expect(isWhole("a") && names == ["a"] && objects["a"].sentBytes == 10_000)
    }

    @Test("Whoever comes by another name of a folder waits for one that is about to leave its place there")
    func leavingByAnotherName() {
        var state = TransferCore.State(book: TransferBook(width: 1), redaction: .standard)
        func perform(_ actions: [TransferBook.Action]) { for action in actions { _ = state.step(action) } }
        var other = ServiceDownload(
            ServiceRequest(.get, "/maps/b"), to: .file(URL(fileURLWithPath: "/elsewhere/a")))
        var one = download("a")
        (one.folder, other.folder) = (FileIdentity(device: 1, number: 2), FileIdentity(device: 1, number: 2))
        state.jobs["x"] = TransferJob(.download(download("a")))
        perform(state.book.add("x", .normal))
        state.locate("x", one)
        #expect(state.leaving(other, besides: "y") == nil)
        perform(state.book.cancel("x", keeping: false))
        #expect(state.leaving(other, besides: "y") != nil)
        other.folder = FileIdentity(device: 1, number: 3)
        #expect(state.leaving(other, besides: "y") == nil)
    }

    @Test("One that waits for another to leave its place waits until its deadline, and no longer")
    func waitsUntilItsDeadline() async throws {
        let signals = hold(["a"])
        let (files, clock) = (FaultyFiles(), ManualClock())
        var service = try service()
        service.clock = clock
        let center = TransferCenter(
            TransferCore(
                DownloadProvider(service, files: files), UploadProvider(service), width: 2, archive: nil))
        center.download(download("a"), id: "a")
        try await objects["a"].log.contains("3000")
        // It takes its time to leave.
        let (leaves, goesOn) = (Signal(), DispatchSemaphore(value: 0))
        files.before(.status) {
            leaves.open()
            goesOn.wait()
        }
        center.cancel("a")
        try await leaves.wait()
        let sleepers = clock.remaining.count
        var other = ServiceDownload(ServiceRequest(.get, "/maps/b"), to: .file(file("a")))
        other.request.totalTimeout = .seconds(5)
        center.download(other, id: "b")
        try await clock.waitForSleepers(sleepers + 1)
        await clock.advance(by: .seconds(5))
        do {
            _ = try await center.result(of: "b")
            Issue.record("It has come to its end beside another one.")
        } catch let error as HTTPError {
            guard case .timedOut(.total) = error.reason else { throw error }
        }
        #expect(objects["b"].asked.isEmpty)
        goesOn.signal()
        signals["a"]?.open()
        await center.close()
        #expect(names.isEmpty)
    }
}
