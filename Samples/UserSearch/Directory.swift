import IDMHTTP

// 1. The resources of the directory. Their paths and names are those of GitHub's API, so --base-url can name it.

struct Account: Codable, Sendable, Equatable {
    let login: String
}

struct Profile: Decodable, Sendable {
    let login: String
    let name: String?
    let location: String?
    let publicRepos: Int

    enum CodingKeys: String, CodingKey {
        case login, name, location
        case publicRepos = "public_repos"
    }
}

struct Repository: Decodable, Sendable {
    let name: String
    let stars: Int

    enum CodingKeys: String, CodingKey {
        case name
        case stars = "stargazers_count"
    }
}

struct AccountsResource: DecodableResource {
    let text: String
    var request: ServiceRequest { ServiceRequest(.get, "/search/users", query: ["q": text, "per_page": 8]) }
    typealias Value = [Account]
    var rootKeyPath: String? { "items" }
}

struct ProfileResource: DecodableResource {
    let login: String
    var request: ServiceRequest { ServiceRequest(.get, "/users/{login}", pathParameters: ["login": login]) }
    typealias Value = Profile
}

struct RepositoriesResource: DecodableResource {
    let login: String
    var request: ServiceRequest {
        ServiceRequest(.get, "/users/{login}/repos", pathParameters: ["login": login], query: ["per_page": 3])
    }
    typealias Value = [Repository]
}
