import Foundation
import IDMCore
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
        let asked = Watched<Task<TransferResult, any Error>?>(nil)
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

    /// Does something when it goes.
    private final class Going: Sendable {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        deinit { body() }
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
            let going = Going { [weak center] in log.add("\(center?.ids ?? [])") }
            let bytes = AsyncStream<Data>(unfolding: { withExtendedLifetime(going) { nil } })
            return ServiceRequest(.put, "/maps/a", body: .stream(HTTPBytes(bytes)))
        }
        center.upload(upload(), id: "a")
        _ = try await center.result(of: "a")
        if isReplaced { center.upload(ServiceRequest(.put, "/maps/a"), id: "a") } else { center.remove("a") }
        try await log.count(reaches: 1)
        #expect(log.entries == [isReplaced ? "[\"a\"]" : "[]"])
    }
}
