import IDMCore

/// The provider: fetches the accounts whose names contain the query. It knows nothing of models or of what is printed.
struct UserDirectory: DataProvider {
    /// A directory far away would take its time, so this one does too. A cancelled request ends at once.
    func request(_ query: String) async throws -> [Account] {
        try await Task.sleep(for: .milliseconds(300))
        let needle = query.lowercased()
        return Self.accounts.filter { $0.name.lowercased().contains(needle) }
    }

    /// What the directory keeps of a user.
    struct Account: Sendable {
        let name: String
        let repositories: Int
    }

    private static let accounts = [
        Account(name: "anna-april", repositories: 12),
        Account(name: "appleseed", repositories: 31),
        Account(name: "apple-baker", repositories: 4),
        Account(name: "appolonia", repositories: 9),
        Account(name: "banana-bread", repositories: 7),
        Account(name: "cherry", repositories: 2),
        Account(name: "Pineapple", repositories: 18),
        Account(name: "plum-and-apples", repositories: 1),
    ]
}
