import Foundation
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

extension TransferCenterTests {
    @Test("Thousands come to their end one after the other, in the order in which they came", .offThePool)
    func thousands() async throws {
        let answered = Log()
        let transport = StubTransport { request in
            answered.add(request.url.lastPathComponent)
            return .text("ok")
        }
        let center = TransferCenter(try HTTPService(transport), width: 1)
        let ids = (0..<3_000).map { "\($0)" }
        for id in ids { center.upload(ServiceRequest(.put, "/maps/\(id)"), id: id) }
        for id in ids { #expect(try await center.result(of: id).response?.text == "ok") }
        #expect(answered.entries == ids && center.ids == ids)
    }

    @Test("Of thousands that are cancelled while they wait, nothing comes and nothing stays", .offThePool)
    func thousandsCancelled() async throws {
        let first = hold(["first"])["first"]
        let center = TransferCenter(try service(), width: 1)
        center.download(download("first"), id: "first")
        let ids = (0..<3_000).map { "\($0)" }
        for id in ids { center.download(download(id), id: id) }
        for id in ids { center.remove(id) }
        first?.open()
        #expect(try await center.result(of: "first").file?.size == 10_000)
        await center.close()
        #expect(names == ["first"])
    }
}
