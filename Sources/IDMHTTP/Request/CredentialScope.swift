internal import IDMCore

/// Whom the requests go for that are made of one thing, be it again or one after the other.
final class CredentialScope: Sendable {
    private let users = Locked<[ObjectIdentifier: Int]>([:])

    /// Whether a request may go for a user, or for nobody with nil. The first user to whom an interceptor gives a
    /// credential, or whose cookies there are, has all of it from then on.
    func include(_ user: Int?, of keeper: AnyObject) -> Bool {
        users.withLock { users in
            let owner = users[ObjectIdentifier(keeper)] ?? user
            users[ObjectIdentifier(keeper)] = owner
            return owner == user
        }
    }
}
