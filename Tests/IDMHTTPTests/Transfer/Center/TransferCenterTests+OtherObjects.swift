import Foundation
import IDMCore
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
            await #expect(throws: TransferError.inUse("a.part")) { try await center.result(of: "b") }
            #expect(objects["b"].asked.isEmpty)
            center.remove("b")
            center.resume("a")
            _ = try await center.result(of: "a")
            #expect(isWhole("a") && objects["a"].sentBytes == 10_000)
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
}
