import Foundation
import IDMHTTP

private struct Screens: Sendable {
    @MainActor func showMaintenance() {}
}

private func authentication(_ service: HTTPService, _ baseURL: URL) throws {
    var service = service
    let screens = Screens()

    // sample: an authenticator
    struct Tokens: Codable {
        let access: String
        let refresh: String
    }

    let authenticator = BearerAuthenticator<Tokens>(token: \.access) { old, next in
        let form: RequestBody = .form(["refresh_token": old.refresh])
        let response = try await next(ServiceRequest(.post, "/token", body: form))
        return try JSONDecoder().decode(Tokens.self, from: response.body)
    }
    let authentication = AuthenticationInterceptor(
        authenticator, for: baseURL, credential: nil)
    service.interceptors.append(authentication)
    // end

    let tokens = Tokens(access: "a", refresh: "b")
    // sample: in and out
    authentication.logIn(tokens)
    authentication.logOut()
    // end

    // sample: a key
    let key = AuthenticationInterceptor(
        HeaderAuthenticator("X-API-Key"), for: baseURL, credential: "…")
    let basic = AuthenticationInterceptor(
        BasicAuthenticator(), for: baseURL, credential: .init(user: "ada", password: "…"))
    // end
    _ = (key, basic)

    // sample: the order of interceptors
    service.interceptors = [
        EventLogInterceptor { log in print(log) },
        .maintenance { error in await screens.showMaintenance() },
        RetryInterceptor(2, budget: RetryBudget()),
        authentication,
        ConcurrencyInterceptor(limit: 6),
        LoggingInterceptor(.curl) { line in print(line) },
    ]
    // end
}
