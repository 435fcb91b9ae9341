import IDMCore

// 1. Providers. Each has its own input and output, and knows no other provider.

struct SignIn: DataProvider {
    func request(_ name: String) async throws -> String { "\(name)'s token" }
}

struct Profile: DataProvider {
    func request(_ token: String) async throws -> String { "profile by \(token)" }
}

/// Fails for the first requests, then answers.
final class Repositories: DataProvider {
    private let failures: Failures

    init(failures: Int) {
        self.failures = Failures(left: failures)
    }

    func request(_ token: String) async throws -> [String] {
        try await failures.next()
        return ["swift-flow", "old-notes"]
    }

    private actor Failures {
        private var left: Int

        init(left: Int) {
            self.left = left
        }

        func next() throws {
            guard left > 0 else { return }
            left -= 1
            throw Unreachable()
        }
    }
}

struct Unreachable: Error, CustomStringConvertible {
    let description = "the server can't be reached"
}

// 2. A model: made from the output of the group.

struct Dashboard: DataModel, CustomStringConvertible {
    let description: String

    init(from source: (profile: String, repositories: [String])) {
        description = "\(source.profile), with \(source.repositories.joined(separator: " and "))"
    }
}
