import Foundation
import IDMCore
import IDMTesting
import Synchronization
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("Many requests at once", .timeLimit(.ample))
struct RacingRequestsTests {
    /// A server that takes each token twenty times, sends elsewhere, fails, and answers in pieces: all at random.
    private final class Moods: Sendable {
        private let state = Mutex((random: SplitMix(seed: 11), uses: 0, token: 0))

        func answer(_ request: TransportRequest) -> TransportResponse {
            state.withLock { state in
                if request.url.lastPathComponent == "token" {
                    state.token += 1
                    state.uses = 0
                    return .text("t\(state.token)")
                }
                state.uses += 1
                guard state.uses < 20, request.headers[.authorization] == "Bearer t\(state.token)" else {
                    return .text("", status: 401)
                }
                switch Int.random(in: 0..<10, using: &state.random) {
                case 0: return .text("", status: 503)
                case 1: return .text("", status: 302, headers: ["Location": "/v1/b"])
                default: return .text("body")
                }
            }
        }
    }

    @Test("racing cancels end each request once without leaks")
    func cancelled() async throws {
        let moods = Moods()
        let limit = ConcurrencyInterceptor(limit: 8)
        let scheme = BearerAuthenticator<String>(token: { $0 }) { _, next in
            try await next(ServiceRequest(.post, "/token")).text
        }
        let logs = Mutex(0)
        var service = try HTTPService(
            ScriptedTransport { moods.answer($0) },
            interceptors: [
                EventLogInterceptor { _ in logs.withLock { $0 += 1 } }, RetryInterceptor(2, delay: .none),
                AuthenticationInterceptor(
                    scheme, for: #require(URL(string: "https://h")), credential: "t0", refreshTimeout: .patient), limit,
            ])
        service.configuration.totalTimeout = .seconds(600)
        var random = SplitMix(seed: 5)
        var ended: [String: Int] = [:]

        for _ in 0..<100 {
            let tasks = (0..<50).map { index in
                let request = ServiceRequest(index.isMultiple(of: 2) ? .get : .post, "/a")
                return Task { [service] in try await service.request(request).text }
            }
            for task in tasks where Bool.random(using: &random) { task.cancel() }
            for task in tasks {
                do {
                    ended[try await task.value, default: 0] += 1
                } catch is CancellationError {
                    ended["cancelled", default: 0] += 1
                } catch let error as HTTPError {
                    ended["\(error.status ?? 0)", default: 0] += 1
                }
            }
        }

        // Whatever else is thrown fails the test.
        #expect(ended.values.reduce(0, +) == 5_000)
        #expect(Set(ended.keys).isSubset(of: ["body", "cancelled", "401", "503"]))
        #expect(ended["body", default: 0] > 1_000)
        // What was left behind by a cancel gives its place back a moment later. A request that comes has its turn.
        #expect(["body", "401", "503"].contains(await outcome(service)))
    }

    private func outcome(_ service: HTTPService) async -> String {
        do {
            return try await service.request(ServiceRequest(.get, "/a")).text
        } catch {
            return "\((error as? HTTPError)?.status ?? 0)"
        }
    }
}
