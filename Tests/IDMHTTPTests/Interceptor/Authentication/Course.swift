import Foundation
import IDMTesting
import TestSupport
import Testing

@testable import IDMHTTP

/// A server that takes one token only, and a user who may get another one.
struct Course {
    struct Trouble: Error {}

    /// The token that the server takes.
    let valid: Observed<String>
    /// The tokens that were sent, in their order. Empty for none.
    let sent = Observed<[String]>([])
    /// The tokens that were to be replaced.
    let replaced = Observed<[String]>([])
    let authentication: AuthenticationInterceptor<BearerAuthenticator<String>>
    let service: HTTPService

    /// - Parameter together: How many requests have to be there before any of them is answered.
    init(
        valid: String, credential: String?, together: Int = 1, timeout: Duration = .seconds(30),
        clock: ManualClock = ManualClock(),
        refresh: @escaping @Sendable (String, InterceptorChain) async throws -> String = { _, _ in throw Trouble() }
    ) throws {
        let (sent, replaced, valid) = (sent, replaced, Observed(valid))
        self.valid = valid
        let transport = ScriptedTransport { request in
            let token = request.headers[.authorization] ?? ""
            sent.change { $0.append(token) }
            try await sent.wait { $0.count >= together }
            let isOpen = ["token", "open"].contains(request.url.lastPathComponent)
            return .text(token, status: isOpen || token == "Bearer \(valid.value)" ? 200 : 401)
        }
        let scheme = BearerAuthenticator<String>(token: { $0 }) { old, next in
            replaced.change { $0.append(old) }
            return try await refresh(old, next)
        }
        authentication = AuthenticationInterceptor(
            scheme, for: try #require(URL(string: "https://h")), credential: credential, refreshTimeout: timeout,
            clock: clock)
        service = try HTTPService(transport, interceptors: [authentication])
    }

    func get(_ path: String = "/a") async throws -> String {
        try await service.request(ServiceRequest(.get, path)).text
    }

    /// How a request ends.
    func outcome(_ path: String = "/a") async -> String {
        do {
            return try await get(path)
        } catch let error as HTTPError {
            return "status \(error.status ?? 0)"
        } catch AuthenticationError.refreshFailed(let error) {
            return "refresh failed: \(error)"
        } catch {
            return "\(error)"
        }
    }
}
