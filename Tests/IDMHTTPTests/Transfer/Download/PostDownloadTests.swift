import Foundation
import IDMCore
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Downloads that may not be asked for twice", .fewAtOnce, .timeLimit(.ample))
struct PostDownloadTests {
    private func download(_ place: Downloading) -> ServiceDownload {
        var download = place.download()
        download.request.method = .post
        return download
    }

    @Test("are read no further while they are paused, and never asked for again")
    func paused() async throws {
        let (gate, control) = (Signal(), PauseControl())
        let place = try Downloading { $0.holds = (after: 2_500, gate) }
        let task = Task { [download = download(place)] in
            try await control.bind { try await place.request(download) }
        }
        try await place.server.log.contains("2500")
        control.pause()
        gate.open()
        control.resume()
        _ = try await task.value
        #expect(place.isWhole() && place.server.asked.count == 1)
    }

    @Test("aren't silent while they are paused")
    func silence() async throws {
        try await TestScope.run {
            let (gate, control, clock) = (Signal(), PauseControl(), ManualClock())
            let place = try Downloading { $0.holds = (after: 2_500, gate) }
            var service = try HTTPService(place.server, clock: clock)
            service.configuration.idleTimeout = .seconds(60)
            let provider = DownloadProvider(service, files: place.files)
            let task = Task(executorPreference: clock.executor) { [download = download(place)] in
                try await control.bind { try await provider.request(download) }
            }
            try await place.server.log.contains("2500")
            control.pause()
            await clock.advance(by: .seconds(130))
            control.resume()
            await clock.advance(by: .seconds(59))
            gate.open()
            _ = try await task.value
            #expect(place.isWhole())
        }
    }

    @Test("keep their deadline while they are paused, and nobody waits for their bytes")
    func deadline() async throws {
        let (control, clock) = (PauseControl(), ManualClock())
        var request = ServiceRequest(.post, "/map")
        request.totalTimeout = .seconds(90)
        let service = try HTTPService(StubTransport { _ in .text("x") }, clock: clock)
        let flow = RequestFlow(request, control)
        let bytes = flow.led(HTTPBytes(filling(10)), until: RequestDeadline(request, service))
        control.pause()
        let task = Task {
            for try await _ in bytes {}
        }
        try await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(90))
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.limit == .total(.seconds(90)))
    }

    @Test("begin anew when they are asked for again, and are asked for once", arguments: ["bytes 5-9999/10000", nil])
    func again(range: String?) async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        _ = try? await place.request(download(place))
        // There is nothing to go on with, for this one or another.
        #expect(place.names.isEmpty)
        place.server.change { ($0.breaksAfter, $0.range) = (nil, range) }
        _ = try await place.request(download(place))
        #expect(place.isWhole() && place.server.ranges == [nil, nil])
    }

    @Test("take no part that another way of asking has left")
    func otherPart() async throws {
        let place = try Downloading { $0.breaksAfter = 4_000 }
        _ = try? await place.request()
        #expect(place.names == ["map.bin.part", "map.bin.part.info"])
        place.server.change { $0.breaksAfter = nil }
        _ = try await place.request(download(place))
        #expect(place.isWhole() && place.server.ranges == [nil, nil])
    }

    @Test("fail where the server sends a part of what it was asked for, and aren't asked for the rest")
    func partOnly() async throws {
        let place = try Downloading { $0.endsAfter = 4_000 }
        await #expect(throws: (any Error).self) { try await place.request(download(place)) }
        #expect(place.server.asked.count == 1)
    }
}
