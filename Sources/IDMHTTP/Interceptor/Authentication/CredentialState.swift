import IDMCore

/// Which credential a request was made with.
struct CredentialStamp: Hashable, Sendable {
    /// Changes when a user logs in or out.
    var user = 0
    /// Changes with every credential.
    var credential = 0
}

/// What those who wait for a credential are told.
enum CredentialNews<Credential> {
    /// Go with this one.
    case go(Credential, CredentialStamp)
    /// There is no new one, and this is why.
    case failed(any Error)
    /// Another user is logged in by now, or none.
    case userHasChanged
}

extension CredentialNews: Sendable where Credential: Sendable {}

/// What is known of a credential, and who waits for a new one. A value: what has to be done comes out of each event,
/// and is done by somebody else where no lock is held.
struct CredentialState<Credential, Waiter> {
    /// What a request is to do.
    enum Admission {
        /// Go without a credential: nobody is logged in.
        case anonymous
        /// Go with this one.
        case go(Credential, CredentialStamp)
        /// Wait to be told.
        case wait
    }

    /// What a request is to do that was rejected.
    enum Rejection {
        /// There is another credential by now: go again with it.
        case go(Credential, CredentialStamp)
        /// Wait to be told.
        case wait
        /// Start a refresh in place of this credential, and wait to be told. The number names the refresh.
        case refresh(Credential, Int)
        /// The user has changed.
        case stop
    }

    /// Who is to be told what.
    typealias Notice = (to: [Waiter], news: CredentialNews<Credential>)

    private enum Phase {
        case nobody
        case settled(Credential)
        case refreshing(Credential, Int)
    }

    private var phase: Phase
    /// Those who wait, by their numbers: nobody, unless a refresh runs. Not in the phase, where each of them would copy
    /// all the others.
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

    /// Those who wait. Nobody does unless a refresh runs.
    var waiters: [Waiter] { waiting.inOrder }

    /// A request is to be made. The waiter is kept only if it is to wait.
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

    /// Somebody waits no longer. The refresh goes on: whoever comes next needs what comes of it.
    mutating func leave(_ id: Int) -> Waiter? {
        waiting.removeValue(forKey: id)
    }

    /// A refresh has ended. One that nobody counts on any more isn't heard.
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

    /// A user logs in, or out with nil. Whoever waits for the one before is told so.
    mutating func change(to credential: Credential?) -> Notice {
        defer {
            phase = credential.map { .settled($0) } ?? .nobody
            stamp.user += 1
            stamp.credential += 1
        }
        return (leave(), .userHasChanged)
    }

    /// The same user has a new credential, from somewhere else. A refresh that runs isn't heard any more. While nobody
    /// is logged in there is nothing to be replaced.
    mutating func replace(with credential: Credential) -> Notice? {
        if case .nobody = phase { return nil }
        phase = .settled(credential)
        stamp.credential += 1
        return (leave(), .go(credential, stamp))
    }

    /// Nobody waits any longer. Returns those who did.
    private mutating func leave() -> [Waiter] {
        defer { waiting = [:] }
        return waiting.inOrder
    }
}
