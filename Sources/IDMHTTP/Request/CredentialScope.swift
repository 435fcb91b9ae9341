internal import IDMCore

/// The users for whom a call's requests are made, including its retries and replays. A call stays with its first user.
final class CredentialScope: Sendable {
    private let users = Locked<[ObjectIdentifier: Int]>([:])

    /// Returns true if a request may carry the credentials of a user; nil stands for no user. The scope keeps the first
    /// user that a keeper (an interceptor, or a cookie store) names, and refuses others.
    func include(_ user: Int?, of keeper: AnyObject) -> Bool {
        users.withLock { users in
            let owner = users[ObjectIdentifier(keeper)] ?? user
            users[ObjectIdentifier(keeper)] = owner
            return owner == user
        }
    }
}
