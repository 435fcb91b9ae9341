import Foundation
import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// What a trace shows of transfers.
extension TransferCenterTests {
    /// The wholes of a trace, each with its outcome and its parts.
    private func spans(_ trace: TraceRecorder) -> [String] {
        let entries = trace.entries
        return entries.indices.filter { entries[$0].parent == nil }.map { whole in
            let parts = entries.filter { $0.parent == whole }.map(\.name).joined(separator: " ")
            return "\(entries[whole].name): \(parts): \(entries[whole].detail)"
        }
    }

    @Test("A trace shows how long each transfer waited, ran and was paused, in JSON and on a page as well")
    func traced() async throws {
        let signals = hold(["a"])
        let trace = TraceRecorder(clock: ManualClock())
        let center = TransferCenter(try service(), width: 1)
        trace.watch(center)
        center.download(download("a"), id: "a")
        center.download(download("b"), id: "b")
        try await objects["a"].log.contains("3000")
        center.pause("a")
        #expect(try await center.result(of: "b").file?.size == 10_000)
        center.resume("a")
        signals["a"]?.open()
        _ = try await center.result(of: "a")
        #expect(spans(trace) == ["a: runs paused runs: success, 10000 bytes", "b: waits runs: success, 10000 bytes"])
        #expect(trace.entries.allSatisfy { $0.track == "transfers" && $0.end != nil })
        #expect(trace.entries.filter { $0.name == "runs" }.allSatisfy { $0.detail.hasSuffix(" bytes") })
        for picture in [trace.chromeTrace, trace.page] {
            #expect(["paused", "waits", "success, 10000 bytes"].allSatisfy(picture.contains))
        }
    }

    @Test("A trace shows transfers that are there already, how they fail, go on, are cancelled and are left")
    func tracedEnds() async throws {
        _ = hold(["kept", "cancelled", "removed"])
        objects["fails"].change { $0.breaksAfter = 4_000 }
        let trace = TraceRecorder(clock: ManualClock())
        let center = TransferCenter(try service())
        center.download(download("kept"), id: "kept")
        trace.watch(center, as: "maps")
        for id in ["cancelled", "removed", "fails"] { center.download(download(id), id: id) }
        await #expect(throws: HTTPError.self) { try await center.result(of: "fails") }
        objects["fails"].change { $0.breaksAfter = nil }
        center.resume("fails")
        _ = await wait(center, "fails") { if case .finished = $0 { true } else { false } }
        center.cancel("cancelled")
        await #expect(throws: CancellationError.self) { try await center.result(of: "cancelled") }
        let removed = center.states(of: "removed")
        center.remove("removed")
        for await state in removed { _ = state }
        await center.close()
        let spans = spans(trace)
        #expect(spans.contains("kept: runs: left"))
        #expect(spans.contains("cancelled: runs: cancelled"))
        #expect(spans.contains("removed: runs: left"))
        #expect(spans.contains { $0.hasPrefix("fails: runs: failure: ") })
        #expect(spans.contains("fails: runs: success, 10000 bytes"))
        #expect(spans.count == 5 && trace.entries.allSatisfy { $0.track == "maps" && $0.end != nil })
    }

    @Test("A trace of an upload shows its status, and one of a failure names no files")
    func tracedUpload() async throws {
        let trace = TraceRecorder(clock: ManualClock())
        let center = TransferCenter(try HTTPService(ScriptedTransport(status: 201)))
        trace.watch(center)
        center.upload(ServiceRequest(.put, "/film", body: .bytes(Data([1]))), id: "film")
        _ = try await center.result(of: "film")
        try Data().write(to: file("taken"))
        center.download(ServiceDownload(ServiceRequest(.get, "/x"), to: .file(file("taken"))), id: "map")
        await #expect(throws: TransferError.self) { try await center.result(of: "map") }
        #expect(spans(trace) == ["film: runs: success 201", "map: runs: failure: destinationExists"])
    }

    @Test("A download without a center shows in a trace when it was paused")
    func tracedProvider() async throws {
        let signals = hold(["a"])
        let trace = TraceRecorder(clock: ManualClock())
        let downloads = DownloadProvider(try service()).traced("map", by: trace)
        let control = PauseControl()
        let task = Task { try await control.bind { try await downloads.request(download("a")) } }
        try await objects["a"].log.contains("3000")
        control.pause()
        control.resume()
        signals["a"]?.open()
        #expect(try await task.value.size == 10_000)
        #expect(trace.entries.map(\.name) == ["map", "paused", "resumed"])
        #expect(trace.entries.first?.detail == "success")
    }
}
