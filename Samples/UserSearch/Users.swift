import IDMCaching
import IDMCore

// 2. The models: each makes itself from what was fetched, and knows nothing of where that came from or where it goes.

/// Who was found, and whether somebody remembered it or the server said it just now.
struct Users: DataModel {
    let logins: [String]
    let source: String

    init(from source: Sourced<[Account]>) throws {
        guard !source.value.isEmpty else { throw NobodyFound() }
        logins = source.value.map(\.login).sorted { $0.lowercased() < $1.lowercased() }
        self.source = source.source == .remote ? "from the server" : "from the cache"
    }
}

/// What the model says of an empty answer.
struct NobodyFound: Error, CustomStringConvertible {
    let description = "nobody of that name"
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
