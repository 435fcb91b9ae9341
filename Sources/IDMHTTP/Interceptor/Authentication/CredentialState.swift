import IDMCore

/// Which credential a request was made with.
struct CredentialStamp: Hashable, Sendable {
    /// Changes when a user logs in or out.
    var user = 0
    /// Changes with every credential.
    var credential = 0
}

enum CredentialNews<Credential> {
    case go(Credential, CredentialStamp)
    /// There is no new one, and this is why.
    case failed(any Error)
    case userHasChanged
}

extension CredentialNews: Sendable where Credential: Sendable {}

/// The state of a credential, with the requests that wait for a new one. A pure state machine: each event returns the
/// notices to deliver, outside of all locks.
struct CredentialState<Credential, Waiter> {
    enum Admission {
        /// Send it without a credential: no user is logged in.
        case anonymous
        case go(Credential, CredentialStamp)
        case wait
    }

    enum Rejection {
        /// Send it again with the credential that has replaced the rejected one.
        case go(Credential, CredentialStamp)
        case wait
        /// Start a refresh of this credential, and wait for a notice. The number identifies the refresh.
        case refresh(Credential, Int)
        case stop
    }

    /// A result, and the waiters that receive it.
    typealias Notice = (to: [Waiter], news: CredentialNews<Credential>)

    private enum Phase {
        case nobody
        case settled(Credential)
        case refreshing(Credential, Int)
    }

    private var phase: Phase
    /// The waiters by number. Empty unless a refresh runs. Stored beside the phase, where each addition would copy all
    /// of them.
    private var waiting: [Int: Waiter] = [:]
    private(set) var stamp = CredentialStamp()
    private var lastRefresh = 0

    init(_ credential: Credential?) {
        phase = credential.map { .settled($0) } ?? .nobody
    }

    /// The credential that the next request would go with, or that is being replaced.
    var credential: Credential? {
        switch phase {
        case .nobody: nil
        case .settled(let credential), .refreshing(let credential, _): credential
        }
    }

    /// The waiters. Empty unless a refresh runs.
    var waiters: [Waiter] { waiting.inOrder }

    /// Admits a new request. Stores the waiter only if the request has to wait.
    mutating func admit(_ waiter: Waiter, _ id: Int) -> Admission {
        switch phase {
        case .nobody:
            return .anonymous
        case .settled(let credential):
            return .go(credential, stamp)
        case .refreshing:
            waiting[id] = waiter
            return .wait
        }
    }

    /// A request was rejected that had gone with the credential of a stamp. The waiter is kept only if it is to wait.
    mutating func reject(_ old: CredentialStamp, _ waiter: Waiter, _ id: Int) -> Rejection {
        guard old.user == stamp.user else { return .stop }
        switch phase {
        case .nobody:
            return .stop
        case .settled(let credential):
            guard old.credential == stamp.credential else { return .go(credential, stamp) }
            lastRefresh += 1
            phase = .refreshing(credential, lastRefresh)
            waiting[id] = waiter
            return .refresh(credential, lastRefresh)
        case .refreshing:
            waiting[id] = waiter
            return .wait
        }
    }

    /// Removes the waiter of a cancelled request. The refresh continues for later requests.
    mutating func leave(_ id: Int) -> Waiter? {
        waiting.removeValue(forKey: id)
    }

    /// Ends a refresh. The result of a refresh that is no longer current is discarded.
    mutating func end(_ refresh: Int, _ result: Result<Credential, any Error>) -> Notice? {
        guard case .refreshing(let old, refresh) = phase else { return nil }
        switch result {
        case .success(let new):
            phase = .settled(new)
            stamp.credential += 1
            return (leave(), .go(new, stamp))
        case .failure(let error):
            // The old one stays: what failed may pass, and the next rejection tries again.
            phase = .settled(old)
            return (leave(), .failed(error))
        }
    }

    /// Logs a user in, or out with nil. Waiters for the user before receive ``CredentialNews/userHasChanged``.
    mutating func change(to credential: Credential?) -> Notice {
        defer {
            phase = credential.map { .settled($0) } ?? .nobody
            stamp.user += 1
            stamp.credential += 1
        }
        return (leave(), .userHasChanged)
    }

    /// Replaces the credential of the current user. The result of a running refresh is then discarded. Does nothing
    /// while no user is logged in.
    mutating func replace(with credential: Credential) -> Notice? {
        if case .nobody = phase { return nil }
        phase = .settled(credential)
        stamp.credential += 1
        return (leave(), .go(credential, stamp))
    }

    private mutating func leave() -> [Waiter] {
        defer { waiting = [:] }
        return waiting.inOrder
    }
}
