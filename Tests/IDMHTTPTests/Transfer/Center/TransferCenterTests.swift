import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

/// Several objects behind one transport, each at its own path.
final class ObjectTransports: HTTPTransport {
    private let servers: Mutex<[String: ObjectTransport]> = Mutex([:])
    /// Which were asked for, in order.
    let asked = Log()

    subscript(_ id: String) -> ObjectTransport {
        servers.withLock { servers in
            if let server = servers[id] { return server }
            let server = ObjectTransport(
                filling(10_000, seed: UInt64(id.utf8.reduce(7) { $0 &* 31 &+ Int($1) }.magnitude)))
            servers[id] = server
            return server
        }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let id = request.url.lastPathComponent
        asked.add(id)
        return try await self[id].send(request)
    }
}

@Suite("The transfer center", .fewAtOnce, .timeLimit(.ample))
struct TransferCenterTests {
    let folder: TemporaryFolder
    let records: TemporaryFolder
    let objects = ObjectTransports()

    init() throws {
        folder = try TemporaryFolder()
        records = try TemporaryFolder()
    }

    func service() throws -> HTTPService { try HTTPService(objects) }

    /// What a center holds, over a disk of which the test says what it does.
    func core(_ files: FaultyFiles, width: Int, isKept: Bool = false) throws -> TransferCore {
        TransferCore(
            DownloadProvider(try service(), files: files), UploadProvider(try service()), width: width,
            archive: isKept ? try TransferArchive(records.url) : nil)
    }

    func download(_ id: String) -> ServiceDownload {
        ServiceDownload(ServiceRequest(.get, "/maps/\(id)"), to: .file(file(id)))
    }

    func file(_ id: String) -> URL { folder.url.appendingPathComponent(id) }

    var names: [String] { (try? folder.names()) ?? [] }

    func isWhole(_ id: String) -> Bool {
        (try? Data(contentsOf: file(id))) == objects[id].bytes
    }

    /// Lets each of these stop after 3,000 bytes, until its signal is opened.
    func hold(_ ids: [String]) -> [String: Signal] {
        var signals: [String: Signal] = [:]
        for id in ids {
            let signal = Signal()
            signals[id] = signal
            objects[id].change { $0.holds = (after: 3_000, signal) }
        }
        return signals
    }

    /// Pauses "a" where it is held, and returns once nobody has its part open.
    func pauseHalfway(_ center: TransferCenter, _ files: FaultyFiles) async throws {
        try await objects["a"].log.contains("3000")
        center.pause("a")
        try await files.allClosed()
    }

    /// Waits until a transfer is in a state.
    func wait(_ center: TransferCenter, _ id: String, _ isIt: (TransferState) -> Bool) async -> TransferState? {
        guard let states = await center.lives(of: id).next() else { return nil }
        for await state in states where isIt(state) { return state }
        return nil
    }

    // MARK: The line

    @Test("So many run at once, the others wait, and all of them are done in the end")
    func line() async throws {
        let ids = ["a", "b", "c", "d", "e"]
        let signals = hold(ids)
        let center = TransferCenter(try service(), width: 2)
        // Told one after the other: who looks at one state and then at the next sees no moment.
        let running = Observed((now: Set<String>(), most: 0))
        center.watch { id, state in
            running.change { running in
                if case .running? = state { running.now.insert(id) } else { running.now.remove(id) }
                running.most = max(running.most, running.now.count)
            }
        }
        for id in ids { center.download(download(id), id: id) }
        for id in ids {
            try await objects[id].log.contains("3000")
            guard case .running? = center.state(of: id) else { throw Violation("\(id) isn't running.") }
            signals[id]?.open()
        }
        for id in ids {
            let result = try await center.result(of: id)
            #expect(result.file == DownloadedFile(url: file(id), size: 10_000) && isWhole(id))
        }
        #expect(center.ids == ids && names == ids)
        // Those who watch hear of an end before those who wait for it.
        #expect(running.value.most == 2 && running.value.now.isEmpty)
    }

    @Test("The highest comes first, also if it has become so while it waited")
    func priorities() async throws {
        let signals = hold(["a"])
        let center = TransferCenter(try service(), width: 1)
        center.download(download("a"), id: "a")
        for (id, priority) in [("b", TransferPriority.low), ("c", .normal), ("d", .high), ("e", .low)] {
            center.download(download(id), id: id, priority: priority)
        }
        center.setPriority(.high, of: "e")
        signals["a"]?.open()
        for id in ["b", "c", "d", "e"] { _ = try await center.result(of: id) }
        // Each begins only when the one before has ended, and asks the server then.
        #expect(objects.asked.entries == ["a", "d", "e", "c", "b"])
        #expect(center.progress().fraction == 1)
    }

    // MARK: Pausing and cancelling

    @Test("Pausing stops the bytes, keeps the part and gives the place away; resuming goes on, and no byte comes twice")
    func paused() async throws {
        let signals = hold(["a", "b"])
        let center = TransferCenter(try service(), width: 1)
        center.download(download("a"), id: "a")
        center.download(download("b"), id: "b")
        try await objects["a"].log.contains("3000")
        center.pause("a")
        center.pause("a")
        guard case .paused(let progress)? = center.state(of: "a") else { throw Violation("not paused") }
        #expect(progress.bytesPerSecond == nil)
        try await objects["b"].log.contains("3000")
        center.resume("a")
        center.resume("a")
        guard case .waiting? = center.state(of: "a") else { throw Violation("not waiting") }
        for signal in signals.values { signal.open() }
        _ = try await center.result(of: "b")
        _ = try await center.result(of: "a")
        #expect(isWhole("a") && isWhole("b") && objects["a"].sentBytes == 10_000)
        #expect(objects["a"].ranges.count == 2)
    }

    @Test(
        "Cancelling removes what has come, or keeps it, whether it runs, waits or is paused", arguments: [true, false])
    func cancelled(keeping: Bool) async throws {
        _ = hold(["a", "b"])
        let center = TransferCenter(try service(), width: 2)
        center.download(download("a"), id: "a")
        center.download(download("b"), id: "b")
        try await objects["a"].log.contains("3000")
        try await objects["b"].log.contains("3000")
        center.pause("b")
        for id in ["a", "b"] {
            center.cancel(id, keepingPart: keeping)
            center.cancel(id, keepingPart: !keeping)
            guard case .cancelled? = center.state(of: id) else { throw Violation("not cancelled") }
            await #expect(throws: CancellationError.self) { try await center.result(of: id) }
            center.pause(id)
            center.resume(id)
        }
        // Asked for again, they begin when what was there has ended.
        for id in ["a", "b"] {
            objects[id].change { $0.holds = nil }
            center.download(download(id), id: id)
            _ = try await center.result(of: id)
            #expect(isWhole(id))
            // Asked for again before it was removed, what has come is taken along.
            if keeping { #expect(objects[id].sentBytes == 10_000) }
        }
        #expect(names == ["a", "b"])
    }

    @Test("What is cancelled leaves nothing, and what is forgotten isn't there any more")
    func removed() async throws {
        _ = hold(["a"])
        let center = TransferCenter(try service(), width: 2)
        center.download(download("a"), id: "a")
        try await objects["a"].log.contains("3000")
        let states = center.states(of: "a")
        center.remove("a")
        center.remove("a")
        #expect(center.state(of: "a") == nil && center.ids.isEmpty)
        // Whoever followed it comes to an end.
        for await state in states { _ = state }
        for await _ in center.states(of: "a") { Issue.record("nobody is there") }
        // Another one under its id waits until nothing of it is left.
        objects["a"].change { $0.holds = nil }
        center.download(download("a"), id: "a")
        _ = try await center.result(of: "a")
        #expect(isWhole("a") && names == ["a"])
    }

    @Test("A cancel comes too late for a file that is getting its name, and counts if it doesn't get it")
    func cancelledAsItLands() async throws {
        for (fails, keeping) in [(false, false), (true, false), (true, true)] {
            let files = FaultyFiles()
            let core = try core(files, width: 1)
            let center = TransferCenter(core)
            files.before(.permit) {
                // The second time: the first is that of the part.
                files.before(.permit) { [weak center] in
                    center?.cancel("a", keepingPart: keeping)
                    center?.cancel("a", keepingPart: !keeping)
                    guard case .running? = center?.state(of: "a") else {
                        Issue.record("\(String(describing: center?.state(of: "a")))")
                        return
                    }
                    if fails { files.fail(each: .link, EIO) }
                }
            }
            center.download(download("a"), id: "a")
            if fails {
                await #expect(throws: CancellationError.self) { try await center.result(of: "a") }
            } else {
                _ = try await center.result(of: "a")
            }
            await center.close()
            #expect(names == (fails ? keeping ? ["a.part", "a.part.info"] : [] : ["a"]))
            for name in names { try FileManager.default.removeItem(at: file(name)) }
        }
    }

    @Test("One that is forgotten as its file gets its name isn't the next one's of its id")
    func forgottenAsItLands() async throws {
        let files = FaultyFiles()
        let core = try core(files, width: 1)
        let center = TransferCenter(core)
        let other = download("b")
        files.before(.link) { [weak center] in
            center?.remove("a")
            #expect(center?.state(of: "a") == nil)
            center?.download(other, id: "a")
        }
        center.download(download("a"), id: "a")
        try await objects["b"].log.contains("10000")
        #expect(try await center.result(of: "a").file?.url == file("b"))
        #expect(isWhole("a") && isWhole("b") && names == ["a", "b"])
    }

    // MARK: All at once

    @Test("Whatever is asked from many sides at once, each transfer comes to an end that is right")
    func racing() async throws {
        let ids = (0..<8).map { "\($0)" }
        for round in 0..<Volume.of(100, normally: 10) {
            let center = TransferCenter(try service(), width: 3)
            for id in ids { center.download(download(id), id: id) }
            await withTaskGroup { group in
                for side in 0..<4 {
                    group.addTask {
                        var random = SplitMix(seed: UInt64(round * 10 + side))
                        for _ in 0..<100 {
                            let id = ids.randomElement(using: &random) ?? "0"
                            switch Int.random(in: 0..<8, using: &random) {
                            case 0: center.cancel(id)
                            case 1: center.cancel(id, keepingPart: true)
                            case 2: center.download(download(id), id: id)
                            case 3: center.setPriority(.high, of: id)
                            case 4: center.remove(id)
                            case 5, 6: center.pause(id)
                            default: center.resume(id)
                            }
                        }
                    }
                }
            }
            for id in ids {
                var again = download(id)
                again.existing = .replace
                center.remove(id)
                center.download(again, id: id)
            }
            for id in ids {
                _ = try await center.result(of: id)
                #expect(isWhole(id))
            }
            #expect(names == ids)
            for id in ids { try FileManager.default.removeItem(at: file(id)) }
        }
    }
}
