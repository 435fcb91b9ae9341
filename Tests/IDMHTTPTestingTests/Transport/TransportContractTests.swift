import Foundation
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

@Suite("The transport contract", .fewAtOnce, .timeLimit(.ample))
struct TransportContractTests {
    @Test("The transport of the platform keeps the contract")
    func platform() async throws {
        let violations = try await TestScope.run {
            try await TransportContract.check(limit: .seconds(60)) { URLSessionTransport() }
        }

        #expect(violations == [])
    }

    /// A transport over a sound one, with one fault.
    private struct FaultyTransport: HTTPTransport {
        enum Fault: CaseIterable {
            case losesBodies, waitsForBodies, followsRedirects, sendsCookies, ignoresCancel, hidesBreaks, mixesResponses
        }

        let fault: Fault
        let base = URLSessionTransport()
        let last = Observed<URL?>(nil)
        let count = Observed(0)

        func send(_ original: TransportRequest) async throws -> TransportResponse {
            var request = original
            switch fault {
            case .losesBodies: request.body = nil
            case .sendsCookies: if count.countOne() > 1 { request.headers["Cookie"] = "id=1" }
            case .ignoresCancel: return try await Task { [request] in try await base.send(request) }.value
            case .mixesResponses:
                // The first of twenty requests answers the later ones.
                if let url = last.value { request.url = url }
                last.change { [url = request.url] in $0 = url }
            default: break
            }
            var response = try await base.send(request)
            switch fault {
            case .followsRedirects where response.status == 302:
                return try await base.send(
                    TransportRequest(.get, URL(string: "/new", relativeTo: request.url)!.absoluteURL))
            case .waitsForBodies: response.body = HTTPBytes(try await response.body.reduce(into: Data()) { $0 += $1 })
            case .hidesBreaks:
                var data = Data()
                do { for try await piece in response.body { data += piece } } catch {}
                response.body = HTTPBytes(data)
            default: break
            }
            return response
        }
    }

    @Test("A fault of a transport is a violation of its rule", arguments: FaultyTransport.Fault.allCases)
    private func faults(fault: FaultyTransport.Fault) async throws {
        let rules: [FaultyTransport.Fault: TransportContract.Rule] = [
            .losesBodies: .carriesBothWays, .waitsForBodies: .answersWithTheHeader,
            .followsRedirects: .returnsRedirects,
            .sendsCookies: .keepsNoCookies, .ignoresCancel: .reactsToCancel, .hidesBreaks: .reportsBrokenBodies,
            .mixesResponses: .answersConcurrentRequests,
        ]
        let rule = try #require(rules[fault])
        let failures = try await TestScope.failures {
            try await TransportContract.check(limit: .seconds(2), rules: [rule]) { FaultyTransport(fault: fault) }
        }

        #expect(failures.map(\.message).allSatisfy { $0.contains("\(rule)") } && failures.count == 1)
    }
}
