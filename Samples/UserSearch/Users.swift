import Foundation
import IDMCaching
import IDMCore

// 2. The models: each is made from fetched data, and knows neither its source nor its destination.

/// The users that were found, and the source of the answer: cache or server.
struct Users: DataModel {
    let logins: [String]
    let source: String

    init(from source: Sourced<[Account]>) throws {
        guard !source.value.isEmpty else { throw NobodyFound() }
        logins = source.value.map(\.login).sorted { $0.lowercased() < $1.lowercased() }
        self.source = source.source == .remote ? "from the server" : "from the cache"
    }
}

/// The error of the model for an empty answer.
struct NobodyFound: LocalizedError {
    let errorDescription: String? = "No user matches."
}

/// A user in a few lines.
struct Card: DataModel {
    let lines: [String]

    init(from source: (Profile, [Repository])) {
        let (profile, repositories) = source
        let facts = [profile.name ?? profile.login, profile.location, "repositories: \(profile.publicRepos)"]
        lines =
            [facts.compactMap(\.self).joined(separator: ", ")] + repositories.map { "\($0.name), stars: \($0.stars)" }
    }
}
