import Foundation
import IDMHTTP

// sample: saved tokens
nonisolated func makeService(_ baseURL: URL, saved: TokenStore) -> HTTPService {
    let scheme = BearerAuthenticator<Tokens>(token: \.access) { old, next in
        let form: RequestBody = .form(["refresh_token": old.refresh])
        let response = try await next(ServiceRequest(.post, "/token", body: form))
        return try response.decoded()
    }
    let authentication = AuthenticationInterceptor(
        scheme, for: baseURL, credential: saved.load(),
        onRefresh: { new in saved.save(new) })
    return HTTPService(
        configuration: .init(baseURL: baseURL),
        interceptors: [RetryInterceptor(2), authentication])
}
// end

private func login(
    _ service: HTTPService, _ authentication: AuthenticationInterceptor<BearerAuthenticator<Tokens>>,
    _ saved: TokenStore, _ name: String, _ password: String
) async throws {
    // sample: the first tokens
    let request = ServiceRequest(
        .post, "/login", body: .json(["name": name, "password": password]))
    let tokens = try await service.request(request.withoutAuthentication(), as: Tokens.self)
    saved.save(tokens)
    authentication.logIn(tokens)
    // end
}
