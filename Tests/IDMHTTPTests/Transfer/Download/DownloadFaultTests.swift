import Foundation
import IDMCore
import IDMFiles
import TestSupport
import Testing

@testable import IDMHTTP

/// What a disk can do to a download, call by call.
@Suite("Downloads onto a bad disk", .offThePool, .timeLimit(.ample))
struct DownloadFaultTests {
    /// Ways to download, each of which makes other calls.
    enum Way: CaseIterable {
        case plain, digest, replace, number, folder, power

        func download(_ place: Downloading) -> ServiceDownload {
            var download = self == .folder ? place.intoFolder : place.download()
            switch self {
            case .plain, .folder: break
            case .digest: download.sha256 = SHA256.hex(of: place.bytes)
            case .replace: download.existing = .replace
            case .number: download.existing = .number
            case .power: download.durability = .power
            }
            return download
        }
    }

    /// A place in which a part of 2,500 bytes is there already.
    private func begun(_ way: Way) async throws -> Downloading {
        let place = try Downloading(6_000) { $0.breaksAfter = 2_500 }
        place.server.change { $0.headers["Content-Disposition"] = "attachment; filename=map.bin" }
        await #expect(throws: HTTPError.self) { try await place.request(way.download(place)) }
        place.server.change { $0.breaksAfter = nil }
        return place
    }

    /// How many calls a download makes from there.
    private func calls(_ way: Way) async throws -> [FileFault.Call] {
        let place = try await begun(way)
        place.files.fail(nil)
        _ = try await place.request(way.download(place))
        return place.files.made
    }

    @Test(
        "What survives a power cut is on the disk before it has its name, and its name before anybody is told",
        arguments: [TransferDurability.power, .process])
    func onTheDisk(durability: TransferDurability) async throws {
        let place = try Downloading()
        place.files.fail(nil)
        var download = place.download()
        download.durability = durability
        _ = try await place.request(download)
        let calls = place.files.made
        // Of the file: what is written last is its sidecar, which is on the disk before it has its name as well.
        let writes = calls.indices.filter { calls[$0] == .write }
        let named = try #require(calls.firstIndex(of: .link))
        for (write, next) in zip(writes.suffix(2), writes.suffix(1) + [named]) {
            #expect(calls[write..<next].contains(.synchronize) == (durability == .power))
        }
        #expect(calls[named...].contains(.synchronize) == (durability == .power))
    }

    @Test(
        "Whichever call fails, the file is whole or isn't there, nothing leaks, and the next time it is right",
        arguments: Way.allCases)
    func eachCall(way: Way) async throws {
        for number in try await calls(way).indices {
            for code in [ENOSPC, EIO] {
                let place = try await begun(way)
                place.files.fail(number, code)
                do {
                    _ = try await place.request(way.download(place))
                    #expect(place.names.contains("map.bin"))
                } catch {
                    #expect(error is TransferError, "call \(number)")
                    if code == ENOSPC { #expect(error as? TransferError == .noSpace, "call \(number)") }
                    #expect(!place.names.contains("map.bin"), "call \(number)")
                    place.files.fail(nil)
                    _ = try await place.request(way.download(place))
                }
                place.files.fail(nil)
                #expect(try Data(contentsOf: place.file) == place.bytes, "call \(number)")
                #expect(place.files.openFiles == 0, "call \(number)")
            }
        }
    }

    @Test(
        "Wherever a process ends, the next one goes on, and fetches no more than a byte again", arguments: Way.allCases)
    func eachDeath(way: Way) async throws {
        for number in try await calls(way).indices {
            let place = try await begun(way)
            place.files.fail(number, EIO, staysDead: true)
            _ = try? await place.request(way.download(place))
            let written = place.names.contains("map.bin.part") ? place.partLength ?? 0 : 0
            let sent = place.server.sentBytes
            // Another process, as far as the files go.
            let other = DownloadProvider(try HTTPService(place.server), files: FaultyFiles())
            // Without what is known of it, a file is just a file that stands there.
            let isFile = place.names.contains("map.bin") && !place.names.contains { $0.hasSuffix(".info") }
            if isFile, way != .replace, way != .number {
                await #expect(throws: TransferError.self) { try await other.request(way.download(place)) }
            } else {
                let file = try await other.request(way.download(place))
                #expect(
                    file.size == 6_000 && file.url.lastPathComponent == "map.bin" || way == .number, "call \(number)")
                if written > 0 { #expect(place.server.sentBytes - sent <= 6_000 - written + 1, "call \(number)") }
            }
            #expect(try Data(contentsOf: place.file) == place.bytes, "call \(number)")
            #expect(!place.names.contains { $0.contains(".part") }, "call \(number): \(place.names)")
        }
    }

    @Test(
        "Wherever a process ends, what it leaves is known for a download's, and the next one clears it away",
        arguments: [true, false], [ServiceDownload.ExistingFile.replace, .number])
    func eachLeftover(hasTag: Bool, existing: ServiceDownload.ExistingFile) async throws {
        func begin() throws -> (place: Downloading, download: ServiceDownload) {
            let place = try Downloading(6_000) { if !hasTag { $0.tag = nil } }
            var download = place.download()
            download.existing = existing
            return (place, download)
        }
        /// Breaks off, which removes what can't be gone on with, and comes to its end the second time.
        func run(_ place: Downloading, _ download: ServiceDownload) async throws {
            for breaksAfter in [2_500, nil] {
                place.server.change { $0.breaksAfter = breaksAfter }
                _ = try? await place.request(download)
            }
        }
        let (whole, download) = try begin()
        try await run(whole, download)
        for number in whole.files.made.indices {
            let (place, download) = try begin()
            place.files.fail(number, EIO, staysDead: true)
            try await run(place, download)
            let other = DownloadProvider(try HTTPService(place.server), files: FaultyFiles())
            let file = try await other.request(download)
            #expect(try Data(contentsOf: file.url) == place.bytes, "call \(number)")
            #expect(!place.names.contains { $0.contains(".part") }, "call \(number): \(place.names)")
        }
    }

    @Test("By what survives a power cut, what is known of a part is on the disk under its name before more is written")
    func sidecarOnTheDisk() async throws {
        for durability in [TransferDurability.power, .process] {
            let place = try Downloading()
            var download = place.download()
            download.durability = durability
            _ = try await place.request(download)
            let calls = place.files.made
            let renames = calls.indices.filter { calls[$0] == .rename }
            #expect(renames.count == 2)
            for rename in renames {
                let next = Array(calls[rename...].dropFirst().prefix(3))
                #expect((next == [.open, .synchronize, .close]) == (durability == .power), "\(next)")
            }
        }
    }

    @Test(
        "What a disk says it has lost isn't gone on with, though it says so once",
        arguments: [TransferDurability.process, .power], [EIO, ENOSPC])
    func lost(durability: TransferDurability, code: Int32) async throws {
        for kept in [0, 2_500] {
            let place = try Downloading(6_000) { $0.breaksAfter = kept }
            var download = place.download()
            (download.durability, download.sha256) = (durability, SHA256.hex(of: place.bytes))
            if kept > 0 { await #expect(throws: HTTPError.self) { try await place.request(download) } }
            let signal = Signal()
            place.server.change {
                ($0.breaksAfter, $0.holds) = (durability == .process ? 2_000 : nil, (after: 1_500, signal))
            }
            let request = Task { [download] in try await place.request(download) }
            try await place.server.log.contains("1500")
            // What is waited for next is the part: as it is left, or as it is whole.
            place.files.failNext(.synchronize, code)
            signal.open()
            await #expect(throws: (any Error).self) { try await request.value }
            #expect(place.partLength == (kept > 0 ? kept : nil) && place.names.count == (kept > 0 ? 2 : 0))
            if kept > 0 {
                let known = try #require(DownloadSidecar([UInt8](Data(contentsOf: place.sidecar))))
                #expect(known.synchronized == Int64(kept) && known.whole == nil)
            }
            place.server.change { ($0.breaksAfter, $0.holds) = (nil, nil) }
            _ = try await place.request(download)
            #expect(place.isWhole() && place.server.ranges.last == .some(kept > 0 ? "bytes=\(kept)-" : nil))
        }
    }

    @Test("A file system that doesn't know how to wait for its disk has lost nothing by that")
    func neverWaits() async throws {
        let place = try Downloading(6_000) { $0.breaksAfter = 2_500 }
        place.files.fail(each: .synchronize, EINVAL)
        await #expect(throws: HTTPError.self) { try await place.request() }
        place.server.change { $0.breaksAfter = nil }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=2500-"])
    }

    @Test("A disk that does less than it is asked for is asked again")
    func short() async throws {
        let place = try Downloading(6_000)
        place.files.shorten()
        var download = place.download()
        download.sha256 = SHA256.hex(of: place.bytes)
        place.server.change { $0.breaksAfter = 3_000 }
        await #expect(throws: HTTPError.self) { try await place.request(download) }
        place.server.change { $0.breaksAfter = nil }
        _ = try await place.request(download)
        #expect(place.isWhole())
    }

    @Test("A disk that gets full in the middle keeps what has come, and the digest is right when there is space again")
    func full() async throws {
        let place = try Downloading(2_000_000)
        var download = place.download()
        download.sha256 = SHA256.hex(of: place.bytes)
        let files = place.files
        // The first write of a part that isn't its first.
        files.before(.write) { files.before(.write) { files.before(.write) { files.fail(each: .write, ENOSPC) } } }
        #expect(await place.error(download) == .noSpace)
        let kept = try #require(place.partLength)
        #expect(kept > 0 && kept < 2_000_000 && files.openFiles == 0)
        files.fail(each: nil)
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=\(kept)-"])
    }

    @Test(
        "What the system refuses is told as what it is",
        arguments: [
            (FileFault.Call.open, EACCES, TransferError.notPermitted("map.bin.part")),
            (.open, EROFS, .notPermitted("map.bin.part")), (.open, EMFILE, .tooManyOpenFiles),
            (.write, EDQUOT, .noSpace),
            (.write, EFBIG, .tooLarge), (.lock, EWOULDBLOCK, .inUse("map.bin.part")),
            (.permit, EPERM, .notPermitted("map.bin.part")), (.cut, EIO, .refused(call: "cut", code: EIO)),
        ])
    func codes(call: FileFault.Call, code: Int32, error: TransferError) async throws {
        let place = try Downloading()
        place.files.fail(each: call, code)
        let found = await place.error()
        switch (found, error) {
        // The layer that fails by order of the test names no file.
        case (.notPermitted, .notPermitted), (.inUse, .inUse): break
        default: #expect(found == error)
        }
        #expect(place.files.openFiles == 0)
    }

    @Test("A part that can't be removed once it has its name is in nobody's way", arguments: [false, true])
    func secondName(isFolder: Bool) async throws {
        let place = try Downloading { $0.headers["Content-Disposition"] = "attachment; filename=map.bin" }
        var download = isFolder ? place.intoFolder : place.download()
        download.existing = .number
        let files = place.files
        files.before(.link) { files.failNext(.remove) }
        #expect(try await place.request(download).url.lastPathComponent == "map.bin")
        #expect(place.names.contains { $0.hasSuffix(".part") })
        let moved = place.folder.url.appendingPathComponent("moved")
        try FileManager.default.moveItem(at: place.file, to: moved)
        #expect(try await place.request(download).url.lastPathComponent == "map.bin")
        #expect(place.names == ["map.bin", "moved"])
        #expect(FileManager.default.contentsEqual(atPath: place.file.path, andPath: moved.path))
    }

    /// A download that has left a whole part, which others may read.
    private func leftReadable() async throws -> Downloading {
        let place = try Downloading()
        let files = place.files
        files.before(.link) {
            files.failNext(.link)
            files.before(.permit) { files.failNext(.permit) }
        }
        #expect(await place.error() != nil)
        return place
    }

    @Test("A part that others may read, since a fault of the disk has left it so, is known as one")
    func readable() async throws {
        let place = try await leftReadable()
        #expect(place.names.contains("map.bin.part"))
        _ = try await place.request()
        #expect(place.names == ["map.bin"] && place.isWhole())
    }

    @Test(
        "A part that was about to land as the power went, and has lost its end, is known as one",
        arguments: [false, true])
    func lostItsEnd(isRestarted: Bool) async throws {
        let place = try await leftReadable()
        let part = try FileHandle(forWritingTo: place.part)
        try part.truncate(atOffset: 4_000)
        try part.close()
        let later = isRestarted ? FaultyFiles(session: "later", device: 1) : FaultyFiles()
        let provider = DownloadProvider(try HTTPService(place.server), files: later)
        if isRestarted {
            _ = try await provider.request(place.download())
            #expect(place.names == ["map.bin"] && place.isWhole())
        } else {
            // The system has lost nothing meanwhile, so that it is another file.
            await #expect(throws: TransferError.destinationExists("map.bin.part")) {
                try await provider.request(place.download())
            }
        }
    }

    @Test(
        "A part that was about to land as the power went, and has lost what was known of it, is known as one",
        arguments: [(kept: 0, zeros: 0), (0, 200), (9, 0), (70, 0), (70, 200)])
    func lostWhatWasKnown(kept: Int, zeros: Int) async throws {
        let place = try await leftReadable()
        let known = try Data(contentsOf: place.sidecar)
        try (known.prefix(kept) + Data(count: zeros)).write(to: place.sidecar)
        #expect(chmod(place.part.path, 0o644) == 0)
        _ = try await place.request()
        #expect(place.names == ["map.bin"] && place.isWhole() && place.server.ranges == [nil, nil])
    }

    @Test("What is known of a part is this user's alone, whatever a process has left in its way")
    func leftInTheWay() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 3_000, signal) }
        // As it stays of one that ended while it looked at who may read new files.
        let way = place.sidecar.appendingPathExtension("new")
        try Data().write(to: way)
        #expect(chmod(way.path, 0o644) == 0)
        let task = Task { try await place.request() }
        try await place.server.log.contains("3000")
        let mode = try FileManager.default.attributesOfItem(atPath: place.sidecar.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        signal.open()
        _ = try await task.value
        #expect(place.isWhole())
    }

    @Test("A folder that vanishes on the way is told, and nothing leaks")
    func vanished() async throws {
        let signal = Signal()
        let place = try Downloading { $0.holds = (after: 5_000, signal) }
        let task = Task { await place.error() }
        try await place.server.log.contains("5000")
        try FileManager.default.removeItem(at: place.folder.url)
        signal.open()
        #expect(await task.value == .folderMissing("map.bin.part.info.new"))
        #expect(place.files.openFiles == 0)
    }

    @Test("Where the file system knows no second names, nobody's file is replaced either", arguments: [EPERM, ENOTSUP])
    func noLinks(code: Int32) async throws {
        let place = try Downloading()
        place.files.fail(each: .link, code)
        _ = try await place.request()
        #expect(place.isWhole())
        var download = place.download()
        download.existing = .number
        #expect(try await place.request(download).url.lastPathComponent == "map (2).bin")
        let named = try Downloading { $0.headers["Content-Disposition"] = "attachment; filename=map.bin" }
        _ = try named.folder.file("map.bin", "mine")
        named.files.fail(each: .link, code)
        #expect(await named.error(named.intoFolder) == .destinationExists("map.bin"))
        #expect(try String(contentsOf: named.file, encoding: .utf8) == "mine")
    }
}
