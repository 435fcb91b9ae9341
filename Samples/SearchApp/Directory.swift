import Foundation
import IDMCaching
import IDMCore
import IDMHTTP

/// The flows of the app: from an input to a value for a screen. Screens know the flows, and no service or cache.
nonisolated struct Directory: Sendable {
    private let service: HTTPService
    private let lists: MemoryCache<String, [Account]>

    init(server: URL = URL(string: "https://api.github.com")!) {
        var configuration = ServiceConfiguration(baseURL: server, headers: ["Accept": "application/json"])
        configuration.idleTimeout = .seconds(10)
        service = HTTPService(configuration: configuration, interceptors: [RetryInterceptor(1)])
        lists = MemoryCache(countLimit: 100)
    }

    /// The accounts that match a text. A newer search cancels the previous one, and starts 300 ms after the last key.
    var search: Integrator<String, [Account]> {
        let found = service.provider(for: AccountsResource.self).mapInput { (text: String) in
            AccountsResource(text: text)
        }
        return Integrator(found, executing: .latest(debounce: .milliseconds(300)))
    }

    /// The accounts with the most followers: the cached list first, and the server's answer after it.
    var popular: Integrator<Void, [Account]> {
        let loaded = service.provider(for: AccountsResource.self).mapInput { (_: Void) in
            AccountsResource(text: "followers:>50000")
        }
        return Integrator(
            loaded.cached(in: lists, policy: .cachedThenRemote, key: { _ in "popular" }), executing: .only)
    }

    /// The profile and the repositories of an account, requested at the same time.
    var details: Integrator<String, Details> {
        let profile = service.provider(for: ProfileResource.self).mapInput { (login: String) in
            ProfileResource(login: login)
        }
        let repositories = service.provider(for: RepositoriesResource.self).mapInput { (login: String) in
            RepositoriesResource(login: login)
        }
        let both = (profile >><< repositories).mapInput { (login: String) in (login, login) }
        return Integrator(both, model: Details.self, executing: .latest)
    }
}

/// A user or an organization in a list.
nonisolated struct Account: Codable, Identifiable, Hashable, Sendable {
    let login: String

    var id: String { login }
}

nonisolated struct Profile: Decodable, Sendable {
    let login: String
    let name: String?
    let location: String?
}

nonisolated struct Repository: Decodable, Identifiable, Sendable {
    let id: Int
    let name: String
}

/// The model of the detail screen, made from the answers of two requests.
nonisolated struct Details: DataModel {
    let title: String
    let location: String
    let repositories: [Repository]

    init(from source: (Profile, [Repository])) {
        title = source.0.name ?? source.0.login
        location = source.0.location ?? "no location"
        repositories = source.1
    }
}

nonisolated struct AccountsResource: DecodableResource {
    typealias Value = [Account]

    let text: String
    var request: ServiceRequest { ServiceRequest(.get, "/search/users", query: ["q": text, "per_page": 30]) }
    var rootKeyPath: String? { "items" }
}

nonisolated struct ProfileResource: DecodableResource {
    typealias Value = Profile

    let login: String
    var request: ServiceRequest { ServiceRequest(.get, "/users/{login}", pathParameters: ["login": login]) }
}

nonisolated struct RepositoriesResource: DecodableResource {
    typealias Value = [Repository]

    let login: String
    var request: ServiceRequest {
        ServiceRequest(.get, "/users/{login}/repos", pathParameters: ["login": login], query: ["per_page": 10])
    }
}
