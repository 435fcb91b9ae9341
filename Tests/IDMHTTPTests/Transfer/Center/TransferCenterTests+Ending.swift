import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

extension TransferCenterTests {
    @Test("A center that is closed as the end of a transfer is about to be told tells that first")
    func closedAsItEnds() async throws {
        let core = try core(FaultyFiles(), width: 1)
        let center = TransferCenter(core)
        let asked = Observed<Task<TransferResult, any Error>?>(nil)
        core.watch { [weak core, weak center] _, state in
            // Shown before it is told.
            guard case .finished? = state, let core, let center else { return }
            core.close()
            asked.change { $0 = center.resultFromHere(of: "a") }
        }
        center.download(download("a"), id: "a")
        try await asked.wait { $0 != nil }
        guard case .file = try await asked.value?.value else {
            Issue.record("The end was not heard.")
            return
        }
        #expect(isWhole("a"))
    }

    /// Keeps nothing of what it is asked.
    private struct Forgetful: HTTPTransport {
        func send(_ request: TransportRequest) async throws -> TransportResponse { .text("done") }
    }

    @Test("What a request holds may use the center as it goes", arguments: [false, true])
    func bodyThatUsesTheCenter(isReplaced: Bool) async throws {
        let service = try HTTPService(Forgetful())
        let center = TransferCenter(
            TransferCore(DownloadProvider(service), UploadProvider(service), width: 1, archive: nil))
        let log = Log()
        func upload() -> ServiceRequest {
            let going = DeinitObserver { [weak center] in log.add("\(center?.ids ?? [])") }
            let bytes = AsyncStream<Data>(unfolding: { withExtendedLifetime(going) { nil } })
            return ServiceRequest(.put, "/maps/a", body: .stream(HTTPBytes(bytes)))
        }
        center.upload(upload(), id: "a")
        _ = try await center.result(of: "a")
        if isReplaced { center.upload(ServiceRequest(.put, "/maps/a"), id: "a") } else { center.remove("a") }
        try await log.count(reaches: 1)
        #expect(log.entries == [isReplaced ? "[\"a\"]" : "[]"])
    }

    /// When a center lets go of a request, once another one has taken its place.
    enum Leaving: CaseIterable {
        case start, cancel, end
    }

    /// Fails until it is told otherwise, and keeps nothing of what it is asked.
    private struct Failing: HTTPTransport {
        let fails: Observed<Bool>
        let held: Signal

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if request.url.path.hasSuffix("held") { try await held.wait() }
            if fails.value { throw ObjectTransport.Broken() }
            return .text("done")
        }
    }

    @Test("What a request of before holds may use the center as it goes", arguments: Leaving.allCases)
    func requestOfBefore(leaving: Leaving) async throws {
        let (fails, held) = (Observed(true), Signal())
        let service = try HTTPService(Failing(fails: fails, held: held))
        let center = TransferCenter(
            TransferCore(DownloadProvider(service), UploadProvider(service), width: 1, archive: nil))
        let log = Log()
        func request() -> ServiceRequest {
            let going = DeinitObserver { [weak center] in log.add("\(center?.ids.sorted() ?? [])") }
            let bytes = AsyncStream<Data>(unfolding: { withExtendedLifetime(going) { nil } })
            return ServiceRequest(.post, "/maps/a", body: .stream(HTTPBytes(bytes)))
        }
        func failing(_ request: ServiceRequest, _ id: String) async {
            center.download(ServiceDownload(request, to: .file(file("a"))), id: id)
            await #expect(throws: HTTPError.self) { try await center.result(of: id) }
        }
        if leaving == .start {
            center.upload(request(), id: "x")
            await #expect(throws: HTTPError.self) { try await center.result(of: "x") }
        } else {
            await failing(request(), "x")
        }
        switch leaving {
        // It waits for another one, and is begun when nobody asks for it.
        case .start: center.upload(ServiceRequest(.put, "/maps/held"), id: "y")
        case .cancel:
            await failing(ServiceRequest(.get, "/maps/b"), "x")
            center.cancel("x", keepingPart: true)
        // Another one goes on with what there is of it.
        case .end: await failing(ServiceRequest(.get, "/maps/a"), "y")
        }
        if leaving != .cancel {
            fails.change { $0 = false }
            center.upload(ServiceRequest(.put, "/maps/c"), id: "x")
            held.open()
            _ = try await center.result(of: "x")
        }
        try await log.count(reaches: 1)
        #expect(log.entries == [leaving == .cancel ? "[\"x\"]" : "[\"x\", \"y\"]"])
        await center.close()
    }
}
