import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// Several transfers in one place.
extension TransferCenterTests {
    @Test(
        "What is asked for again under another id waits until the one before has left the place",
        arguments: [true, false])
    func again(isSame: Bool) async throws {
        for round in 0..<Volume.of(200, normally: 20) {
            let id = "map\(round)"
            let signals = hold([id])
            let center = TransferCenter(try service())
            let one = center.download(download(id))
            try await objects[id].log.contains("3000")
            if round.isMultiple(of: 2) { center.cancel(one) } else { center.remove(one) }
            let other = isSame ? id : "other"
            let two = center.download(
                ServiceDownload(ServiceRequest(.get, "/maps/\(other)"), to: .file(file(id))))
            signals[id]?.open()
            _ = try await center.result(of: two)
            #expect(try Data(contentsOf: file(id)) == objects[other].bytes)
            await center.close()
            #expect(names == [id])
            try FileManager.default.removeItem(at: file(id))
        }
    }

    @Test("What is asked for as a part is being removed waits for that")
    func whileRemoving() async throws {
        for round in 0..<Volume.of(200, normally: 20) {
            let id = "map\(round)"
            objects[id].change { $0.breaksAfter = 4_000 }
            let center = TransferCenter(try service())
            center.download(download(id), id: "one")
            _ = try? await center.result(of: "one")
            objects[id].change { $0.breaksAfter = nil }
            center.remove("one")
            center.download(download(id), id: "two")
            _ = try await center.result(of: "two")
            await center.close()
            #expect(isWhole(id))
            try FileManager.default.removeItem(at: file(id))
        }
    }

    @Test("Those that wait for one another's place and are all cancelled come to their end")
    func cancelledTogether() async throws {
        for _ in 0..<Volume.of(200, normally: 20) {
            let signals = hold(["a"])
            let center = TransferCenter(try service(), width: 4)
            center.download(download("a"), id: "0")
            try await objects["a"].log.contains("3000")
            center.cancel("0")
            for number in 1..<4 { center.download(download("a"), id: "\(number)") }
            for number in 1..<4 { center.cancel("\(number)") }
            await center.close()
            #expect(names.isEmpty)
            signals["a"]?.open()
        }
    }

    @Test("However many wait for one to leave its place, it can")
    func crowded() async throws {
        for _ in 0..<Volume.of(200, normally: 20) {
            let signals = hold(["a"])
            let count = ProcessInfo.processInfo.activeProcessorCount + 2
            let center = TransferCenter(try service(), width: count)
            center.download(download("a"), id: "a")
            try await objects["a"].log.contains("3000")
            center.cancel("a")
            // Another object, of which nobody goes on with the part.
            let ids = (0..<count).map { "\($0)" }
            for id in ids {
                let other = ServiceDownload(ServiceRequest(.get, "/maps/b"), to: .file(file("a")), existing: .number)
                center.download(other, id: id)
            }
            for id in ids { _ = try? await center.result(of: id) }
            await center.close()
            signals["a"]?.open()
            for name in names { try FileManager.default.removeItem(at: file(name)) }
        }
    }

    @Test("Of several in one place that are removed together nothing stays")
    func removedTogether() async throws {
        for round in 0..<Volume.of(200, normally: 20) {
            let center = TransferCenter(try service())
            for id in ["a", "b"] {
                objects[id].change { $0.breaksAfter = 4_000 }
                center.download(ServiceDownload(ServiceRequest(.get, "/maps/\(id)"), to: .file(file("same"))), id: id)
                _ = try? await center.result(of: id)
            }
            for id in round.isMultiple(of: 2) ? ["a", "b"] : ["b", "a"] { center.remove(id) }
            await center.close()
            #expect(names.isEmpty)
        }
    }

    @Test("An id is the same however its characters are written, also in its record")
    func spellings() async throws {
        let (one, other) = ("caf\u{e9}", "cafe\u{301}")
        objects["a"].change { $0.breaksAfter = 4_000 }
        let center = try await TransferCenter(try service(), folder: records.url)
        center.download(download("a"), id: one)
        _ = try? await center.result(of: one)
        center.cancel(other)
        await center.close()
        #expect(try names.isEmpty && records.names().isEmpty)
    }

    @Test("That one was kept says nothing of what has its id later")
    func keptBefore() async throws {
        let files = FaultyFiles()
        let first = TransferCenter(try core(files, width: 1, isKept: true))
        for id in ["a", "b"] { objects[id].change { $0.breaksAfter = 4_000 } }
        first.download(download("a"), id: "x")
        _ = try? await first.result(of: "x")
        first.cancel("x", keepingPart: true)
        first.download(download("b"), id: "x")
        _ = try? await first.result(of: "x")
        let left = try TemporaryFolder()
        // As a process leaves it that ends there.
        files.before(.remove) {
            copyRecords(to: left)
            files.fail(each: .remove, EIO)
        }
        first.upload(ServiceRequest(.put, "/maps/c", body: .text("x")), id: "x")
        _ = try await first.result(of: "x")
        await first.close()
        let second = try await TransferCenter(try service(), folder: left.url)
        await second.close()
        #expect(try names == ["a.part", "a.part.info"] && left.names().isEmpty)
    }

    /// Asks for "b" under the id of "a" as that lands. Comes with the records that a process leaves which ends there.
    private func askForAnotherAsItLands(
        _ then: @escaping @Sendable (FaultyFiles) -> Void
    ) async throws -> (result: TransferResult?, left: TemporaryFolder) {
        let files = FaultyFiles()
        let core = try core(files, width: 1, isKept: true)
        let first = TransferCenter(core)
        let left = try TemporaryFolder()
        files.before(.link) { [download = download("b")] in
            core.add("x", .download(download), .normal)
            copyRecords(of: core, to: left)
            then(files)
        }
        first.download(download("a"), id: "x")
        let result = try? await first.result(of: "x")
        await first.close()
        return (result, left)
    }

    @Test("What lands is known as what it is, whatever is asked for meanwhile", arguments: [false, true])
    func askedForAsItLands(fails: Bool) async throws {
        let (result, left) = try await askForAnotherAsItLands { if fails { $0.failNext(.link) } }
        #expect((result?.file?.url == file("a")) == !fails)
        let second = try await TransferCenter(try service(), folder: fails ? records.url : left.url)
        if fails {
            // What it was asked for last.
            second.resume("x")
            _ = try await second.result(of: "x")
            await second.close()
            #expect(isWhole("b") && names == ["b"])
        } else {
            #expect(try await second.result(of: "x").file?.url == file("a"))
            await second.close()
            #expect(isWhole("a") && names == ["a"])
        }
    }

    @Test("Asked for something else and for the same again as it runs, its progress doesn't go back")
    func thereAndBack() async throws {
        let signals = hold(["a"])
        let center = TransferCenter(try service())
        let heard = Observed<[Int64]>([])
        center.watch { _, state in
            if let progress = state?.progress { heard.change { $0.append(progress.completed) } }
        }
        objects["a"].change { $0.breaksAfter = 5_000 }
        center.download(download("a"), id: "x")
        try await objects["a"].log.contains("3000")
        for id in ["b", "a"] { center.download(download(id), id: "x") }
        signals["a"]?.open()
        _ = try? await center.result(of: "x")
        objects["a"].change { $0.breaksAfter = nil }
        center.resume("x")
        _ = try await center.result(of: "x")
        await center.close()
        #expect(isWhole("a") && heard.value == heard.value.sorted() && heard.value.contains(5_000))
    }

    @Test("At the next start, what is to be removed isn't if another one goes on with it, and is if all are to go")
    func owing() async throws {
        for (owes, stays) in [([true, false], true), ([true, true], false), ([false, true], true)] {
            objects["a"].change { $0.breaksAfter = 4_000 }
            let provider = DownloadProvider(try service())
            _ = try? await provider.request(download("a"))
            for (id, owes) in zip(["one", "two"], owes) {
                let record = TransferRecord(id, .download(provider.named(download("a"))), .normal, turn: 1, owes: owes)
                _ = try records.file(
                    "\(SHA256.hex(of: id.utf8).prefix(32)).transfer", try #require(record?.encoded()))
            }
            let center = try await TransferCenter(try service(), folder: records.url)
            #expect(center.ids == ["one", "two"])
            await center.close()
            #expect(names == (stays ? ["a.part", "a.part.info"] : []))
            let last = try await TransferCenter(try service(), folder: records.url)
            for id in last.ids { last.remove(id) }
            await last.close()
            #expect(try names.isEmpty && records.names().isEmpty)
        }
    }

    @Test("What has come before a pause, and the pause, say nothing of the rate after it")
    func rateAfterPause() throws {
        var state = TransferCore.State(book: TransferBook(width: 1), redaction: .standard)
        func perform(_ actions: [TransferBook.Action]) { for action in actions { _ = state.step(action) } }
        state.jobs["x"] = TransferJob(.download(download("a")))
        perform(state.book.add("x", .normal))
        for second in 0...3 { state.jobs["x"]?.hear(Int64(second) * 1_000, of: 99_000, at: .seconds(second)) }
        #expect(state.jobs["x"]?.progress.bytesPerSecond == 1_000)
        perform(state.book.pause("x"))
        perform(state.book.resume("x"))
        state.jobs["x"]?.hear(3_000, of: 99_000, at: .seconds(63))
        state.jobs["x"]?.hear(5_000, of: 99_000, at: .seconds(64))
        #expect(state.jobs["x"]?.progress.bytesPerSecond == 2_000)
    }

    private var part: FileStatus {
        FileStatus(kind: .file, size: 9, identity: FileIdentity(device: 1, number: 2), mode: 0o600)
    }

    @Test("What was written down as it landed holds for that file alone")
    func landing() {
        var job = TransferJob(.download(download("a")))
        func land() {
            job.landing = TransferRecord.Landing(file: part, suggestedName: nil, of: download("a"))
        }
        job.begin(TransferRun())
        land()
        job.ask(for: .download(download("b")), in: .running)
        #expect(job.landing?.download?.destination == download("a").destination)
        #expect(job.kept?.work.download?.destination == download("b").destination)
        job.end(.failure(TransferError.noSpace))
        #expect(job.landing == nil)
        land()
        job.begin(TransferRun())
        #expect(job.landing == nil)
    }

    @Test("What fails as it lands has failed, also if it was paused just then", arguments: [true, false])
    func pausedAsItLands(isCancelled: Bool) async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1)
        let center = TransferCenter(core)
        files.before(.link) {
            core.change { $0.pause("a") }
            files.failNext(.link)
        }
        center.download(download("a"), id: "a")
        await #expect(throws: TransferError.self) { try await center.result(of: "a") }
        #expect(names == ["a.part", "a.part.info"] && objects["a"].asked.count == 1)
        if isCancelled { center.cancel("a") } else { center.resume("a") }
        let result = try? await center.result(of: "a")
        await center.close()
        #expect((result == nil) == isCancelled && names == (isCancelled ? [] : ["a"]))
    }

    @Test("What lands once its id is another one's says nothing of that one")
    func landingOfAnother() {
        var state = TransferCore.State(book: TransferBook(width: 1), redaction: .standard)
        func perform(_ actions: [TransferBook.Action]) -> [TransferCore.Step] { actions.compactMap { state.step($0) } }
        func ask(_ id: String) {
            let work = TransferJob.Work.download(download(id))
            state.jobs["x", default: TransferJob(work)].ask(for: work, in: state.book.phase(of: "x"))
            _ = perform(state.book.add("x", .normal))
        }
        ask("a")
        let lands = state.book.land("x")
        #expect(lands)
        _ = perform(state.book.remove("x", keeping: false))
        ask("b")
        let landing = TransferRecord.Landing(file: part, suggestedName: nil, of: download("a"))
        #expect(state.land("x", landing) == nil)
        let records = perform(state.book.end("x", .success)).compactMap { step in
            if case .record(let record) = step { record } else { nil }
        }
        #expect(!records.isEmpty && records.allSatisfy { $0.landing == nil })
    }

    @Test("What lands when its process ends is asked for as it was last, if it hasn't landed")
    func notLandedAndAskedForAnother() async throws {
        let (_, left) = try await askForAnotherAsItLands { files in
            files.fail(0, EIO, staysDead: true)
            files.failNext(.link)
        }
        let second = try await TransferCenter(try service(), folder: left.url)
        second.resume("x")
        #expect(try await second.result(of: "x").file?.url == file("b"))
        await second.close()
        #expect(try isWhole("b") && names == ["b"] && left.names().isEmpty)
    }

    @Test("What is asked for while its place is cleared by one that has done something else waits for that")
    func clearedByAnother() async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 3)
        let center = TransferCenter(core)
        objects["a"].change { $0.breaksAfter = 4_000 }
        center.download(download("a"), id: "x")
        _ = try? await center.result(of: "x")
        objects["a"].change { $0.breaksAfter = nil }
        files.before(.remove) { [download = download("a")] in core.add("two", .download(download), .normal) }
        center.upload(ServiceRequest(.put, "/maps/c", body: .text("x")), id: "x")
        _ = try await center.result(of: "x")
        _ = try await center.result(of: "two")
        await center.close()
        #expect(isWhole("a") && names == ["a"])
    }

    @Test("Progress is that of what goes on, whatever was asked for in between")
    func progressOf() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let center = TransferCenter(try service(), width: 1)
        center.download(download("a"), id: "x")
        _ = try? await center.result(of: "x")
        var signals = hold(["a"])
        objects["a"].change { $0.breaksAfter = 5_000 }
        center.resume("x")
        center.download(download("b"), id: "x")
        center.pause("x")
        center.download(download("a"), id: "x")
        #expect(center.state(of: "x")?.progress?.completed ?? 0 >= 4_000)
        signals["a"]?.open()
        _ = try? await center.result(of: "x")

        // And what was never begun has none.
        signals = hold(["c"])
        center.download(download("c"), id: "c")
        center.download(download("b"), id: "x")
        #expect(center.state(of: "x")?.progress?.completed == 0)
        signals["c"]?.open()
        _ = try await center.result(of: "x")
        await center.close()
        #expect(isWhole("b") && isWhole("c"))
    }

    @Test("What an id has left where it was before keeps nobody from there")
    func leftElsewhere() async throws {
        let signals = hold(["a"])
        let files = FaultyFiles()
        let center = TransferCenter(try core(files, width: 2))
        center.download(download("a"), id: "a")
        try await pauseHalfway(center, files)
        objects["a"].change { $0.status = 404 }
        center.download(
            ServiceDownload(ServiceRequest(.get, "/maps/a"), to: .file(file("elsewhere"))), id: "a")
        await #expect(throws: HTTPError.self) { try await center.result(of: "a") }
        center.download(ServiceDownload(ServiceRequest(.get, "/maps/b"), to: .file(file("a"))), id: "b")
        _ = try await center.result(of: "b")
        signals["a"]?.open()
        await center.close()
    }
}
