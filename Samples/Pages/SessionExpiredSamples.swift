import Foundation
import IDMCore
import IDMHTTP
import Observation

// sample: what the app shows instead
@MainActor
@Observable
final class AppScreens {
    enum Cover { case login, update, maintenance }

    private(set) var cover: Cover?

    func show(_ cover: Cover) { self.cover = cover }
    func uncover() { cover = nil }
}
// end

@MainActor
private func policies(
    _ screens: AppScreens, _ authentication: AuthenticationInterceptor<BearerAuthenticator<Tokens>>,
    _ baseURL: URL
) -> HTTPService {
    // sample: the policies
    let service = HTTPService(
        configuration: .init(baseURL: baseURL),
        interceptors: [
            .unauthorized { _ in await screens.show(.login) },
            .updateRequired { _ in await screens.show(.update) },
            .maintenance { _ in await screens.show(.maintenance) },
            RetryInterceptor(2),
            authentication,
        ])
    // end
    return service
}

@MainActor
private func ownFailure(_ screens: AppScreens, _ service: inout HTTPService) {
    // sample: a failure of the API's own
    struct APIFailure: Error, Decodable {
        let code: String
    }

    service.rules.append(.failureBody(APIFailure.self))
    service.interceptors.insert(
        .failure(of: APIFailure.self, when: { $0.code == "session_expired" }) { _ in
            await screens.show(.login)
        }, at: 0)
    // end
}

@MainActor
private func signIn(
    _ screens: AppScreens, _ authentication: AuthenticationInterceptor<BearerAuthenticator<Tokens>>,
    _ tokens: Tokens, _ state: IntegrationState<String, [Note]>
) {
    // sample: after the login
    authentication.logIn(tokens)
    screens.uncover()
    state.reload()
    // end
}
