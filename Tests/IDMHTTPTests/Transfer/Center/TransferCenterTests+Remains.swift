import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What transfers leave behind, and who removes it.
extension TransferCenterTests {
    enum Way: CaseIterable { case cancel, remove }

    private func end(_ id: String, _ way: Way, in center: TransferCenter) {
        switch way {
        case .cancel: center.cancel(id)
        case .remove: center.remove(id)
        }
    }

    @Test(
        "Nothing is left of a request that another one has followed under its id", arguments: Way.allCases,
        [true, false])
    func followed(way: Way, isUpload: Bool) async throws {
        let signals = hold(["a"])
        let center = TransferCenter(try service(), width: 2)
        center.download(download("a"), id: "x")
        try await objects["a"].log.contains("3000")
        end("x", way, in: center)
        if isUpload {
            center.upload(ServiceRequest(.put, "/maps/c", body: .text("x")), id: "x")
        } else {
            center.download(download("b"), id: "x")
        }
        signals["a"]?.open()
        _ = try await center.result(of: "x")
        await center.close()
        #expect(names == (isUpload ? [] : ["b"]))
    }

    @Test(
        "What was begun is removed, also when something else was asked for since, and not begun",
        arguments: Way.allCases)
    func askedForSince(way: Way) async throws {
        let signals = hold(["a"])
        let center = TransferCenter(try service(), width: 2)
        center.download(download("a"), id: "x")
        try await objects["a"].log.contains("3000")
        center.download(download("b"), id: "x")
        end("x", way, in: center)
        signals["a"]?.open()
        await center.close()
        #expect(names.isEmpty && objects["b"].asked.isEmpty)
    }

    @Test("One that goes on with another request leaves nothing of the one before when it is done")
    func changedPlace() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let center = TransferCenter(try service())
        center.download(download("a"), id: "x")
        await #expect(throws: HTTPError.self) { try await center.result(of: "x") }
        #expect(names == ["a.part", "a.part.info"])
        center.download(download("b"), id: "x")
        #expect(center.state(of: "x")?.progress?.completed == 0)
        _ = try await center.result(of: "x")
        #expect(isWhole("b") && names == ["b"])
    }

    @Test("One that has failed and is asked for again goes on from where it is")
    func goesOn() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let signals = hold(["b"])
        let center = TransferCenter(try service(), width: 1)
        center.download(download("a"), id: "a")
        _ = try? await center.result(of: "a")
        center.download(download("b"), id: "b")
        center.download(download("a"), id: "a")
        #expect(center.state(of: "a")?.progress?.completed == 4_000)
        objects["a"].change { $0.breaksAfter = nil }
        signals["b"]?.open()
        _ = try await center.result(of: "a")
        #expect(isWhole("a") && objects["a"].sentBytes == 10_000)
    }

    @Test(
        "A part that another transfer goes on with stays, also if that was asked for something else meanwhile",
        arguments: [false, true])
    func shared(isAskedForAnother: Bool) async throws {
        let signals = hold(["a"])
        let files = FaultyFiles()
        let center = TransferCenter(try core(files, width: 2))
        center.download(download("a"), id: "one")
        try await objects["a"].log.contains("3000")
        if isAskedForAnother { center.download(download("b"), id: "one") }
        center.download(download("a"), id: "two")
        await #expect(throws: TransferError.inUse("a.part")) { try await center.result(of: "two") }
        center.pause("one")
        try await files.allClosed()
        center.remove("two")
        await center.close()
        #expect(names == ["a.part", "a.part.info"])
        signals["a"]?.open()
    }

    @Test(
        "What a download says of its part holds where nobody says anything else, also after the end of its process",
        arguments: [nil, Way.cancel, .remove], [true, false])
    func onCancel(way: Way?, isAnew: Bool) async throws {
        let signals = hold(["a"])
        var kept = download("a")
        kept.onCancel = .keep
        var center = try await TransferCenter(try service(), folder: records.url)
        center.download(kept, id: "x")
        try await objects["a"].log.contains("3000")
        if isAnew {
            await center.close()
            center = try await TransferCenter(try service(), folder: records.url)
        }
        if let way { end("x", way, in: center) } else { center.cancel("x", keepingPart: false) }
        await center.close()
        #expect(try names == (way == nil ? [] : ["a.part", "a.part.info"]) && records.names().isEmpty)
        signals["a"]?.open()
    }

    @Test("What is still under way is waited for, also when its id is another one's by now")
    func closing() async throws {
        let (entered, goesOn) = (Signal(), Signal())
        let slow = ClosureInterceptor { request, next in
            if request.path == "/slow" {
                entered.open()
                await goesOn.waitIgnoringCancel()
            }
            return try await next(request)
        }
        let service = try HTTPService(objects, interceptors: [slow])
        let core = TransferCore(DownloadProvider(service), UploadProvider(service), width: 1, archive: nil)
        let center = TransferCenter(core)
        center.upload(ServiceRequest(.put, "/slow", body: .text("x")), id: "x")
        try await entered.wait()
        center.remove("x")
        center.upload(ServiceRequest(.put, "/b", body: .text("y")), id: "x")
        #expect(core.close().count == 1)
        goesOn.open()
        await center.close()
    }

    @Test("When a center is closed everything that was asked of it is on the disk")
    func settled() async throws {
        for _ in 0..<Volume.of(500, normally: 30) {
            let center = try await TransferCenter(try service(), folder: records.url, width: 1)
            // All: one that begins in its place is not to be done before the end.
            _ = hold(["a", "x", "y", "z"])
            center.download(download("a"), id: "a")
            try await objects["a"].log.contains("3000")
            await withTaskGroup(of: Void.self) { group in
                for id in ["x", "y", "z"] {
                    group.addTask { [download = download(id)] in center.download(download, id: id) }
                    group.addTask { center.setPriority(.high, of: id) }
                }
            }
            async let racing: Void = { center.pause("a") }()
            await center.close()
            #expect(try records.names().filter { $0.hasSuffix(".transfer") }.count == 4)
            await racing
            let next = try await TransferCenter(try service(), folder: records.url)
            for id in next.ids { next.remove(id) }
            await next.close()
            #expect(try records.names().isEmpty && names.isEmpty)
        }
    }

    @Test("What was kept stays, whatever its id is used for later")
    func keptForGood() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let center = TransferCenter(try service())
        center.download(download("a"), id: "x")
        _ = try? await center.result(of: "x")
        center.cancel("x", keepingPart: true)
        center.download(download("b"), id: "x")
        _ = try await center.result(of: "x")
        await center.close()
        #expect(names == ["a.part", "a.part.info", "b"])
    }

    @Test("A part that another one is to go on with is that one's to remove, however its folder is written")
    func handedOver() async throws {
        for isFolder in [false, true] {
            objects["a"].change { $0.breaksAfter = 4_000 }
            let signals = hold(["b"])
            let center = TransferCenter(try service(), width: 1)
            func map(_ isDirectory: Bool) -> ServiceDownload {
                let url = URL(fileURLWithPath: folder.url.path, isDirectory: isDirectory)
                return isFolder ? ServiceDownload(ServiceRequest(.get, "/maps/a"), to: .folder(url)) : download("a")
            }
            center.download(map(true), id: "one")
            _ = try? await center.result(of: "one")
            center.download(download("b"), id: "b")
            center.download(map(false), id: "two")
            center.pause("two")
            center.remove("one")
            // Begins when nothing is done about the one before any more.
            center.upload(ServiceRequest(.put, "/maps/c", body: .text("x")), id: "one")
            signals["b"]?.open()
            _ = try await center.result(of: "one")
            #expect(names.count { $0.hasPrefix("a") } == 2)
            center.remove("two")
            await center.close()
            #expect(names == ["b"])
            try FileManager.default.removeItem(at: file("b"))
        }
    }

    @Test("A cancel that nobody here has asked for leaves what the download says", arguments: [true, false])
    func cancelledByOthers(keeps: Bool) async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let throwing = Observed(false)
        let interceptor = ClosureInterceptor { request, next in
            if throwing.value { throw CancellationError() }
            return try await next(request)
        }
        let center = TransferCenter(try HTTPService(objects, interceptors: [interceptor]))
        var map = download("a")
        map.onCancel = keeps ? .keep : .remove
        center.download(map, id: "x")
        _ = try? await center.result(of: "x")
        throwing.change { $0 = true }
        center.resume("x")
        for await _ in center.states(of: "x") {}
        await center.close()
        #expect(names == (keeps ? ["a.part", "a.part.info"] : []))
    }

    enum Later: CaseIterable { case cancelled, done, upload, landed }

    @Test(
        "What an id has left that was asked for something else is removed by the next process as well",
        arguments: Later.allCases)
    func ofTheProcessBefore(later: Later) async throws {
        let files = FaultyFiles()
        let first = TransferCenter(try core(files, width: 1, isKept: true))
        objects["a"].change { $0.breaksAfter = 4_000 }
        first.download(download("a"), id: "x")
        _ = try? await first.result(of: "x")
        let left = try TemporaryFolder()
        if later == .upload || later == .landed {
            // As a process leaves it that ends there.
            files.before(later == .upload ? .remove : .link) {
                copyRecords(to: left)
                files.fail(each: .remove, EIO)
            }
        }
        if later == .upload {
            first.upload(ServiceRequest(.put, "/maps/b", body: .text("x")), id: "x")
            _ = try await first.result(of: "x")
        } else {
            let signals = later == .landed ? [:] : hold(["b"])
            first.download(download("b"), id: "x")
            if later == .landed { _ = try await first.result(of: "x") }
            if later != .landed { try await objects["b"].log.contains("3000") }
            await first.close()
            if later != .landed { copyRecords(to: left) }
            signals["b"]?.open()
        }
        await first.close()
        #expect(names.contains("a.part") && names.contains("a.part.info"))

        let second = try await TransferCenter(try service(), folder: left.url)
        switch later {
        case .cancelled:
            #expect(second.state(of: "x")?.progress?.completed == 3_000)
            second.cancel("x")
        case .done:
            second.resume("x")
            _ = try await second.result(of: "x")
        case .upload: #expect(second.ids.isEmpty)
        case .landed: _ = try await second.result(of: "x")
        }
        await second.close()
        #expect(names == (later == .done || later == .landed ? ["b"] : []))
        #expect(try left.names().isEmpty)
    }

    @Test("What is asked for as something is removed doesn't make the next process forget that")
    func askedForAsItGoes() async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let first = TransferCenter(core)
        objects["a"].change { $0.breaksAfter = 4_000 }
        first.download(download("a"), id: "x")
        _ = try? await first.result(of: "x")
        let (left, removes) = (try TemporaryFolder(), Signal())
        files.before(.remove) { [download = download("b")] in
            core.add("x", .download(download), .normal)
            copyRecords(of: core, to: left)
            files.fail(each: .remove, EIO)
            removes.open()
        }
        // Or it may be there before this process ends.
        let signals = hold(["b"])
        first.cancel("x")
        try await removes.wait()
        await first.close()
        signals["b"]?.open()
        #expect(names.contains("a.part"))
        let second = try await TransferCenter(try service(), folder: left.url)
        second.resume("x")
        _ = try await second.result(of: "x")
        await second.close()
        #expect(isWhole("b") && names == ["b"])
    }

    @Test("Nothing of another request counts for the one that has the id now, be it late or before")
    func ofAnother() async throws {
        let signals = hold(["b"])
        let (asked, clock) = (Signal(), ManualClock())
        let transport = ScriptedTransport { [objects] request in
            if request.body == nil { return try await objects.send(request) }
            request.didSend(10)
            asked.open()
            try await Signal().wait()
            return .text("x")
        }
        let center = TransferCenter(try HTTPService(transport, clock: clock))
        center.upload(ServiceRequest(.put, "/up", body: .bytes(filling(10_000))), id: "x")
        try await asked.wait()
        center.cancel("x")
        center.download(download("b"), id: "x")
        try await objects["b"].log.contains("3000")
        // Late enough to be told at once.
        await clock.advance(by: .seconds(1))
        transport.asked[0].didSend(9_999)
        #expect(center.state(of: "x")?.progress?.completed ?? 0 <= 3_000)
        signals["b"]?.open()
        _ = try await center.result(of: "x")

        // Asked for something else as it runs, and failed: the other one begins with nothing.
        objects["a"].change { $0.breaksAfter = 4_000 }
        let held = hold(["a", "c"])
        center.download(download("a"), id: "y")
        try await objects["a"].log.contains("3000")
        center.download(download("c"), id: "y")
        held["a"]?.open()
        _ = try? await center.result(of: "y")
        center.resume("y")
        try await objects["c"].log.contains("3000")
        #expect(center.state(of: "y")?.progress?.completed ?? 0 <= 3_000)
        held["c"]?.open()
        _ = try await center.result(of: "y")
    }

    @Test("Whoever waits for an end waits for it, also in a task that is cancelled")
    func endInACancelledTask() async throws {
        for _ in 0..<Volume.of(500, normally: 50) {
            let (goesOn, log, run) = (Signal(), Log(), TransferRun())
            run.start {
                await goesOn.waitIgnoringCancel()
                log.add("ended")
            }
            let waiting = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                Task { goesOn.open() }
                await run.ended()
                log.add("told")
            }
            await waiting.value
            #expect(log.entries == ["ended", "told"])
        }
    }
}
