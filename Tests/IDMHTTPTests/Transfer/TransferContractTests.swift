import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Transfers as providers", .fewAtOnce, .timeLimit(.ample))
struct TransferContractTests {
    @Test("Downloads keep the contract of providers", arguments: [false, true])
    func downloads(isHeld: Bool) async throws {
        let place = try Downloading { if isHeld { $0.holds = (after: 5_000, Signal()) } }
        var download = place.intoFolder
        download.existing = .number
        try await check(isHeld: isHeld, input: download) { try place.provider }
        try await place.files.allClosed()
        #expect(!place.names.contains { $0.hasSuffix(".part") || $0.hasSuffix(".info") })
    }

    @Test("Uploads keep the contract of providers", arguments: [false, true])
    func uploads(isHeld: Bool) async throws {
        let signal = Signal()
        let transport = ScriptedTransport { _ in
            if isHeld { try await signal.wait() }
            return .text("done")
        }
        try await check(isHeld: isHeld, input: ServiceRequest(.put, "/films/1", body: .text("film"))) {
            UploadProvider(try HTTPService(transport))
        }
    }

    /// What is held ends by a cancel alone, so only what has to do with one is looked at. What isn't may be about to
    /// end at each of the moments at which it would be cancelled.
    private func check<Provider: DataProvider>(
        isHeld: Bool, input: Provider.Input, _ make: @escaping @Sendable () throws -> Provider
    ) async throws {
        let ofCancel: Set<DataProviderContract.Rule> = [.reactsToCancel]
        let rules = isHeld ? ofCancel : Set(DataProviderContract.Rule.allCases).subtracting(ofCancel)
        let limits = DataProviderContract.Limits(answer: .patient, cancel: .patient)
        let violations = try await DataProviderContract.check(input: input, limits: limits, rules: rules, make)
        #expect(violations.isEmpty)
    }
}
