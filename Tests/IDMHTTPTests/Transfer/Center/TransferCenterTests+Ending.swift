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
        core.watch { [weak core] _, state in
            if case .finished? = state { core?.close() }
        }
        let signals = hold(["a"])
        center.download(download("a"), id: "a")
        try await objects["a"].log.contains("3000")
        async let result = center.result(of: "a")
        async let groups = center.progresses(of: ["a"]).reduce(into: []) { $0.append($1.fraction) }
        signals["a"]?.open()
        guard case .file = try await result else {
            Issue.record("The end was not heard.")
            return
        }
        #expect(await groups.last == 1)
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

    @Test("What a request holds may use the center as it goes", arguments: [false, true])
    func bodyThatUsesTheCenter(isReplaced: Bool) async throws {
        let center = TransferCenter(try core(FaultyFiles(), width: 1))
        let log = Log()
        func upload() -> ServiceRequest {
            let going = Going { [weak center] in log.add("\(center?.ids ?? [])") }
            let bytes = AsyncStream<Data>(unfolding: { withExtendedLifetime(going) { nil } })
            return ServiceRequest(.put, "/maps/a", body: .stream(HTTPBytes(bytes)))
        }
        center.upload(upload(), id: "a")
        _ = try? await center.result(of: "a")
        if isReplaced { center.upload(ServiceRequest(.put, "/maps/a"), id: "a") } else { center.remove("a") }
        try await log.count(reaches: 1)
        #expect(log.entries == [isReplaced ? "[\"a\"]" : "[]"])
    }
}
