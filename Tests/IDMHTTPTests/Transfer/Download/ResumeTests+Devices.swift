import Foundation
import IDMCore
import IDMFiles
import TestSupport
import Testing

@testable import IDMHTTP

/// Disks whose devices have other numbers each time that they are connected, or that the system starts.
extension ResumeTests {
    private func restarted(_ place: Downloading) throws -> DownloadProvider {
        DownloadProvider(try HTTPService(place.server), files: FaultyFiles(session: "later", device: 1))
    }

    @Test("A part is gone on with where its device has another number by now")
    func otherDevice() async throws {
        let place = try await broken()
        let left = try await restarted(place).left(by: place.download())
        #expect(left.completed == 4_000 && left.total == 10_000)
        _ = try await restarted(place).request(place.download())
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-"])
    }

    @Test("Where a disk was taken away and connected again, only what was surely on it counts")
    func connectedAgain() async throws {
        let place = try await broken()
        // Bytes that came later, of which it may have got nothing.
        let handle = try FileHandle(forWritingTo: place.part)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(count: 500))
        try handle.close()
        let provider = DownloadProvider(try HTTPService(place.server), files: FaultyFiles(device: 1))
        let left = await provider.left(by: place.download())
        #expect(left.completed == 4_000)
        _ = try await provider.request(place.download())
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=4000-"])
    }

    @Test("A file that has landed isn't taken for one of a digest that it hasn't", arguments: [false, true])
    func landedAndLost(isRestarted: Bool) async throws {
        let place = try Downloading()
        var download = place.download()
        download.sha256 = SHA256.hex(of: place.bytes)
        place.files.before(.link) { [files = place.files] in files.fail(each: .remove) }
        _ = try await place.request(download)
        #expect(place.names.count == 3)
        place.files.fail(each: nil)
        download.existing = .replace
        let landing = try POSIXFiles().status(at: place.file.path)
        let handle = try FileHandle(forWritingTo: place.file)
        try handle.write(contentsOf: Data(count: 2_000))
        try handle.close()
        let provider = isRestarted ? try restarted(place) : try place.provider
        let record = TransferRecord.Landing(file: landing, suggestedName: nil, of: download)
        #expect(await provider.landed(download, record) == nil)
        #expect(try await provider.request(download).sha256 == download.sha256)
        #expect(place.isWhole() && place.server.asked.count == 2)
    }

    @Test("What another download can go on with isn't discarded where its device has another number by now")
    func anothersOnOtherDevice() async throws {
        let place = try await broken()
        try await restarted(place).discard(place.download("/maps/asia"))
        #expect(place.partLength == 4_000)
    }

    @Test("A download that ended between its names is done where its device has another number by now")
    func doneOnOtherDevice() async throws {
        let place = try Downloading()
        place.files.before(.link) { [files = place.files] in files.fail(each: .remove) }
        _ = try await place.request()
        #expect(place.names.contains("map.bin.part"))
        #expect(try await restarted(place).request(place.download()).size == 10_000)
        #expect(place.isWhole() && place.server.asked.count == 1)
    }

    @Test("What is known of a part goes once that is in its place, where its device has another number by now")
    func sidecarOnOtherDevice() async throws {
        let place = try await broken()
        try FileManager.default.moveItem(at: place.part, to: place.file)
        let files = FaultyFiles(device: 1)
        let later = PartFiles(place: try DownloadPlace(place.download(), from: place.file), files: files)
        later.removeSidecar(of: try files.status(at: place.file.path).identity)
        #expect(place.names == ["map.bin"])
    }

    @Test("A file that was about to land is known by its number and its size, whatever that of its device")
    func landedOnOtherDevice() async throws {
        let place = try Downloading()
        _ = try await place.request()
        var landing = try POSIXFiles().status(at: place.file.path)
        for isWhole in [true, false] {
            if !isWhole { landing.size -= 1 }
            let record = TransferRecord.Landing(file: landing, suggestedName: nil, of: place.download())
            let file = try await restarted(place).landed(place.download(), record)
            #expect(file?.size == (isWhole ? 10_000 : nil))
        }
    }

    @Test("A sidecar of the first version is read, with the device that it names")
    func firstVersion() throws {
        let text = #"""
            {"file":{"device":5,"number":7},"object":"o","session":"s","synchronized":3,"total":9,"validator":"\"v\""}
            """#
        let bytes = Array("idm-part 1 \(SHA256.hex(of: text.utf8))\n\(text)".utf8)
        let sidecar = try #require(DownloadSidecar(bytes))
        for (device, trusted) in [(5, 4), (6, 3)] as [(UInt64, Int64)] {
            let file = FileIdentity(device: device, number: 7)
            let part = FileStatus(kind: .file, size: 4, identity: file, mode: 0o600)
            let plan = DownloadPlan(sidecar: sidecar, part: part, object: "o", size: nil, session: "s")
            #expect(plan == .goOn(from: trusted, validator: "\"v\"", total: 9))
        }
        // And what is written now is read by what wrote that.
        #expect(try String(decoding: sidecar.encoded(), as: UTF8.self).contains(#""file":{"device":5,"number":7}"#))
    }
}
