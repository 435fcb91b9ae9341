import Foundation
import IDMCore
import IDMHTTP

extension Surroundings {
    private static func authenticator() -> BearerAuthenticator<Tokens> {
        // sample: tokens that are replaced
        let authenticator = BearerAuthenticator<Tokens>(token: \.access) { old, next in
            let response = try await next(ServiceRequest(.post, "/token", body: .form(["refresh_token": old.refresh])))
            return try JSONDecoder().decode(Tokens.self, from: response.body)
        }
        // end
        return authenticator
    }

    private static func authentication(
        _ service: inout HTTPService, _ authenticator: BearerAuthenticator<Tokens>, _ baseURL: URL, _ saved: Tokens?
    ) {
        // sample: a user who logs out
        let authentication = AuthenticationInterceptor(authenticator, for: baseURL, credential: saved)
        service.interceptors.append(authentication)
        authentication.logOut()
        // end
    }

    private static func policy(_ service: inout HTTPService, _ screens: Screens) {
        // sample: a policy for maintenance
        service.interceptors.insert(.maintenance { error in await screens.showMaintenance() }, at: 0)
        // end
    }

    private static func retry(_ service: inout HTTPService, _ budget: RetryBudget) {
        // sample: retries
        service.interceptors.append(RetryInterceptor(3, budget: budget))
        // end
    }

    private static func trace(_ service: inout HTTPService, _ trace: TraceRecorder) {
        // sample: a trace of requests
        service.interceptors.insert(TraceInterceptor(trace), at: 0)
        // end
    }
}
