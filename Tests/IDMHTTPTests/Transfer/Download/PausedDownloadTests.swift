import Foundation
import IDMCore
import IDMFiles
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Downloads that are paused and cancelled", .fewAtOnce, .timeLimit(.ample))
struct PausedDownloadTests {
    @Test("Pausing stops the bytes and keeps the part, and resuming goes on, however often")
    func paused() async throws {
        let place = try Downloading { $0.holds = (after: 2_500, Signal()) }
        let control = PauseControl()
        async let file = control.bind { try await place.request() }
        for round in 1...3 {
            // Each answer stops after 2,500 bytes and never goes on.
            try await place.server.log.contains { $0.count { $0 == "2500" } == round }
            control.pause()
            control.pause()
            try await place.part(ends: 2_500 * round)
            if round == 3 { place.server.change { $0.holds = nil } }
            control.resume()
            control.resume()
        }
        _ = try await file
        #expect(place.isWhole() && place.server.sentBytes == 10_000)
        #expect(place.server.ranges == [nil, "bytes=2500-", "bytes=5000-", "bytes=7500-"])
    }

    @Test("a cancel ends the hashing of a whole part, which is kept")
    func hashing() async throws {
        let piece = 1 << 18
        let place = try Downloading(5 * piece)
        var download = place.download()
        (download.sha256, download.onCancel) = (SHA256.hex(of: place.bytes), .keep)
        place.files.before(.read) { [files = place.files] in
            files.before(.read) { withUnsafeCurrentTask { $0?.cancel() } }
        }

        let cancelled = Task { [download] in try await place.request(download) }
        await #expect(throws: CancellationError.self) { try await cancelled.value }

        #expect(place.files.made.count { $0 == .read } < 5 && place.partLength == 5 * piece)
        _ = try await place.request(download)
        #expect(place.isWhole() && place.server.ranges == [nil, "bytes=\(5 * piece - 1)-"])
    }

    @Test("What somebody else has made of the part in a pause is none of it, also when the next attempt fails")
    func changedInAPause() async throws {
        let place = try Downloading { $0.holds = (after: 2_500, Signal()) }
        let control = PauseControl()
        let task = Task { try await control.bind { try await place.request() } }
        try await place.server.log.contains("2500")
        control.pause()
        try await place.part(ends: 2_500)
        // As one leaves it that could not have gone on with it, and ended in the middle.
        var sidecar = try #require(DownloadSidecar([UInt8](try Data(contentsOf: place.sidecar))))
        sidecar.validator = nil
        try Data(sidecar.encoded()).write(to: place.sidecar)
        let part = try FileHandle(forWritingTo: place.part)
        try part.truncate(atOffset: 0)
        try part.write(contentsOf: Data(repeating: 0, count: 4_000))
        try part.close()
        place.server.change { ($0.holds, $0.status) = (nil, 503) }
        control.resume()
        await #expect(throws: HTTPError.self) { try await task.value }
        #expect(place.names == ["map.bin.part", "map.bin.part.info"] && place.partLength == 4_000)
        place.server.change { $0.status = nil }
        _ = try await place.request()
        #expect(place.isWhole() && place.server.ranges.last == .some(nil))
    }

    @Test("What can't be told from another object is let go by a pause, and comes anew", arguments: [nil, "W/\"v1\""])
    func pausedWithoutValidator(tag: String?) async throws {
        let place = try Downloading {
            $0.holds = (after: 2_500, Signal())
            $0.tag = tag
        }
        let control = PauseControl()
        async let file = control.bind { try await place.request() }
        try await place.server.log.contains("2500")
        control.pause()
        try await place.files.allClosed()
        #expect(place.names.isEmpty)
        let other = filling(9_000, seed: 2)
        place.server.change {
            $0.holds = nil
            $0.bytes = other
        }
        control.resume()
        _ = try await file
        #expect(place.isWhole("map.bin", other) && place.server.ranges == [nil, nil])
    }

    @Test("What is paused before it begins asks for nothing until it is resumed")
    func pausedBefore() async throws {
        let (place, other) = (try Downloading(), try Downloading())
        let control = PauseControl()
        control.pause()
        let task = Task { try await control.bind { try await place.request() } }
        // Another download is done from beginning to end meanwhile.
        _ = try await other.request()
        #expect(place.server.asked.isEmpty)
        control.resume()
        _ = try await task.value
        control.pause()
        let cancelled = Task { try await control.bind { try await place.request(place.download("/other")) } }
        _ = try await other.request(other.intoFolder)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(place.server.asked.count == 1 && place.isWhole())
    }

    @Test("Cancelling removes what has come, or keeps it", arguments: [ServiceDownload.CancelledPart.remove, .keep])
    func cancelled(choice: ServiceDownload.CancelledPart) async throws {
        for isPaused in [false, true] {
            let place = try Downloading { $0.holds = (after: 2_500, Signal()) }
            let control = PauseControl()
            var download = place.download()
            download.onCancel = choice
            let task = Task { [download] in try await control.bind { try await place.request(download) } }
            try await place.server.log.contains("2500")
            if isPaused {
                control.pause()
                try await place.part(ends: 2_500)
            }
            task.cancel()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(place.partLength == (choice == .keep ? 2_500 : nil) && place.files.openFiles == 0)
            #expect(place.names.count == (choice == .keep ? 2 : 0))
            try await place.provider.discard(download)
            #expect(place.names.isEmpty)
        }
    }

    @Test("A cancel at any moment leaves the whole file, a part that goes on, or nothing")
    func anyMoment() async throws {
        for moment in 0..<60 {
            let place = try Downloading(20_000)
            var download = place.download()
            download.onCancel = moment.isMultiple(of: 2) ? .keep : .remove
            let task = Task { [download] in try await place.request(download) }
            let canceller = Task {
                try? await place.server.log.count(reaches: moment / 2)
                task.cancel()
            }
            let result = await task.result
            canceller.cancel()
            await canceller.value
            #expect(place.files.openFiles == 0)
            if case .success = result {
                #expect(place.isWhole())
            } else {
                #expect(download.onCancel == .keep ? !place.names.contains("map.bin") : place.names.isEmpty)
                _ = try await place.request(download)
                #expect(place.isWhole())
            }
        }
    }

    @Test("Pauses and resumes from many sides at once end in a whole file")
    func racing() async throws {
        for round in 0..<20 {
            let place = try Downloading(50_000)
            let control = PauseControl()
            let task = Task { try await control.bind { try await place.request() } }
            await withTaskGroup { group in
                for side in 0..<4 {
                    group.addTask {
                        for step in 0..<20 {
                            (step + side + round).isMultiple(of: 2) ? control.pause() : control.resume()
                        }
                    }
                }
            }
            control.resume()
            _ = try await task.value
            #expect(place.isWhole())
        }
    }
}

extension Downloading {
    /// Waits until nobody writes the part any more, which is so long by then.
    fileprivate func part(ends length: Int) async throws {
        try await files.allClosed()
        #expect(partLength == length)
    }
}
