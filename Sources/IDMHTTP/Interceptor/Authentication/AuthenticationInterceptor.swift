public import Foundation
internal import IDMCore
internal import Synchronization

/// Supplies requests with the credential of a user, and replaces it when the server doesn't take it any more.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(authenticator, for: baseURL, credential: saved)
/// service.interceptors.append(authentication)
/// authentication.logOut()
/// ```
///
/// Saving each new credential and refreshing before the old one expires:
///
/// ```swift
/// let scheme = BearerAuthenticator<Tokens>(token: \.access, expiry: \.expiry) { old, next in
///     let request = ServiceRequest(.post, "/token", body: .form(["refresh": old.refresh]))
///     return try await next(request).decoded(as: Tokens.self)
/// }
/// let authentication = AuthenticationInterceptor(scheme, for: baseURL, credential: saved) { tokens in
///     await keychain.save(tokens)
/// }
/// ```
///
/// - A credential goes to the origin of the base URL that it is made for, and to no other one.
/// - Requests that are rejected make one refresh together. Each goes again once with what comes of it; a second
///   rejection is the answer. If the refresh fails, each fails with ``AuthenticationError/refreshFailed(_:)``.
/// - One whose body can be read once, and has been, can't go again, and fails with ``RequestBody/Fault/usedUp``.
/// - A request that was rejected with an older credential than there is by now makes no refresh, and goes again with
///   the new one.
/// - While a refresh runs, new requests wait for it. A request that is cancelled waits no longer, and the refresh goes
///   on.
/// - When the user logs out, requests that wait fail with ``AuthenticationError/userHasChanged``, and so do those whose
///   response comes later: nothing of the old user is delivered after, and no piece of a body that is being read. What
///   comes of a refresh that runs is not heard.
/// - One that goes again, behind a ``RetryInterceptor`` say, or a transfer that goes on after a pause, does so for the
///   user whom it has gone for, and fails with ``AuthenticationError/userHasChanged`` once that is somebody else, or
///   nobody. One that nobody was logged in for belongs to nobody: its response is delivered whoever comes, and if it
///   goes again, it goes with the credential that there is by then.
/// - A rejection that redirects over another origin led to is the answer, even if they led back: the credential stayed
///   behind, so that it isn't what was rejected.
/// - A credential that expires within 30 seconds (``Authenticator/expiry(of:)``) is refreshed before a request goes. If
///   that fails while it is still valid, the request goes with it.
/// - A request with ``ServiceRequest/usesAuthentication`` set to false goes without a credential.
/// - While nobody is logged in, requests go without a credential, and a rejection is the answer.
///
/// Put it behind an interceptor that makes requests again, so that each of them goes with the latest credential.
public final class AuthenticationInterceptor<Scheme: Authenticator>: HTTPInterceptor {
    /// What shows who asks.
    public typealias Credential = Scheme.Credential

    private typealias News = CredentialNews<Credential>
    private typealias State = CredentialState<Credential, OneShot<News>>

    private let scheme: Scheme
    private let origin: ServiceOrigin?
    private let refreshTimeout: Duration
    private let onRefresh: (@Sendable (Credential) async -> Void)?
    private let now: @Sendable () -> Date
    /// The last credential that expired so soon when it came that it isn't refreshed early.
    private let shortLived = Locked<Int?>(nil)
    private let clock: any Clock<Duration>
    private let state: Locked<State>
    /// The caches that hold responses to requests with the credential.
    private let caches = WipedCaches()
    private let lastWaiter = Atomic(0)

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - scheme: How requests show who asks.
    ///   - baseURL: Whose origin the credential is for. Requests of services with another one pass as they are.
    ///   - credential: The credential of the user who is logged in, if one is.
    ///   - refreshTimeout: How long a refresh may take. One that takes longer has failed, and is left behind.
    ///   - clock: What measures that.
    ///   - onRefresh: Saves a new credential that a refresh has brought. Called once for each of them, away from the
    ///     caller's actor; the requests that waited for the credential go when it returns. Not called if the user has
    ///     logged out meanwhile.
    public convenience init(
        _ scheme: Scheme, for baseURL: URL, credential: Credential? = nil, refreshTimeout: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), onRefresh: (@Sendable (Credential) async -> Void)? = nil
    ) {
        self.init(
            scheme, for: baseURL, credential: credential, refreshTimeout: refreshTimeout, clock: clock,
            now: { Date() }, onRefresh: onRefresh)
    }

    init(
        _ scheme: Scheme, for baseURL: URL, credential: Credential?, refreshTimeout: Duration,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Date,
        onRefresh: (@Sendable (Credential) async -> Void)?
    ) {
        self.now = now
        self.onRefresh = onRefresh
        self.scheme = scheme
        origin = ServiceOrigin(baseURL)
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        state = Locked(State(credential))
    }

    /// The credential of the user who is logged in: the one to be saved for the next launch. Nil if nobody is.
    public var credential: Credential? { state.withLock { $0.credential } }

    /// A user logs in. Requests of the one before, if there was one, aren't answered any more.
    public func logIn(_ credential: Credential) {
        tell(state.withLock { $0.change(to: credential) })
        caches.wipe()
    }

    /// The user logs out. Their requests aren't answered any more.
    public func logOut() {
        tell(state.withLock { $0.change(to: nil) })
        caches.wipe()
    }

    /// The user who is logged in has a new credential, from somewhere else than a refresh. Nothing happens while nobody
    /// is: what comes after a logout doesn't undo it.
    public func replaceCredential(_ credential: Credential) {
        tell(state.withLock { $0.replace(with: credential) })
    }

    /// Sends the request with the credential, and once more if it is rejected.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        guard let origin, request.usesAuthentication, request.origin(in: next.configuration) == origin,
            !RefreshScope.contains(self)
        else { return try await next(request) }
        let admission = try await freshAdmission(next)
        guard next.call.scope.include(admission?.1.user, of: self) else { throw AuthenticationError.userHasChanged }
        guard let (credential, stamp) = admission else { return try await next(request) }
        caches.add(next.configuration.cache)
        do {
            return try await send(request, credential, stamp, next)
        } catch let error as HTTPError where isRejection(error) {
            // Also for a body that can be read once: this request fails then, and says why, and the next one doesn't.
            guard let (credential, stamp) = try await replacement(for: stamp, next) else { throw error }
            return try await send(request, credential, stamp, next)
        }
    }

    /// Whether the server rejected the credential. It hasn't seen it where redirects led over another origin.
    private func isRejection(_ error: HTTPError) -> Bool {
        scheme.isRejection(error) && error.response?.hasLeftOrigin != true
    }

    private func send(
        _ request: ServiceRequest, _ credential: Credential, _ stamp: CredentialStamp, _ next: InterceptorChain
    ) async throws -> ServiceResponse {
        let known = request
        var request = request
        try scheme.authorize(&request, with: credential)
        request.headers.keepSecret(unlessIn: known.headers)
        request.query.keepSecret(unlessIn: known.query)
        let result: Result<ServiceResponse, any Error>
        do {
            result = .success(try await next(request))
        } catch {
            if error is CancellationError { throw error }
            result = .failure(error)
        }
        // Whatever came, it may be for somebody who isn't there any more.
        try checkUser(of: stamp)
        var response = try result.get()
        response.stream = response.stream?.observed { [self] _ in try checkUser(of: stamp) }
        return response
    }

    private func checkUser(of stamp: CredentialStamp) throws {
        guard state.withLock({ $0.stamp.user }) != stamp.user else { return }
        // What came for the user before may have been kept just now.
        caches.wipe()
        throw AuthenticationError.userHasChanged
    }

    /// The credential to go with, refreshed if it expires soon. Nil if nobody is logged in.
    private func freshAdmission(_ next: InterceptorChain) async throws -> (Credential, CredentialStamp)? {
        guard let (credential, stamp) = try await admission() else { return nil }
        guard let expiry = scheme.expiry(of: credential), isSoon(expiry),
            shortLived.withLock({ $0 }) != stamp.credential
        else { return (credential, stamp) }
        do {
            return try await replacement(for: stamp, next) ?? (credential, stamp)
        } catch AuthenticationError.refreshFailed(let error) {
            guard expiry > now() else { throw AuthenticationError.refreshFailed(error) }
            return (credential, stamp)
        }
    }

    private func isSoon(_ expiry: Date) -> Bool { expiry.timeIntervalSince(now()) <= 30 }

    /// The credential to go with. Nil if nobody is logged in.
    private func admission() async throws -> (Credential, CredentialStamp)? {
        let waiter = OneShot<News>()
        let id = lastWaiter.add(1, ordering: .relaxed).newValue
        switch state.withLock({ $0.admit(waiter, id) }) {
        case .anonymous: return nil
        case .go(let credential, let stamp): return (credential, stamp)
        case .wait: return try await wait(waiter, id)
        }
    }

    /// The credential to go with again. Nil if there is no other one to be had.
    private func replacement(
        for stamp: CredentialStamp, _ next: InterceptorChain
    ) async throws -> (Credential, CredentialStamp)? {
        let waiter = OneShot<News>()
        let id = lastWaiter.add(1, ordering: .relaxed).newValue
        switch state.withLock({ $0.reject(stamp, waiter, id) }) {
        case .stop: throw AuthenticationError.userHasChanged
        case .go(let credential, let stamp): return (credential, stamp)
        case .wait: break
        case .refresh(let credential, let number):
            EventRecorder.record(.refresh)
            refresh(credential, number, next)
        }
        do {
            return try await wait(waiter, id)
        } catch AuthenticationError.refreshFailed(AuthenticationError.notRefreshable) {
            return nil
        }
    }

    private func wait(_ waiter: OneShot<News>, _ id: Int) async throws -> (Credential, CredentialStamp) {
        let news = try await LibraryTask.reactingToCancel {
            try await waiter.value()
        } onCancel: {
            state.withLock { $0.leave(id) }?.end(.failure(CancellationError()))
        }
        switch news {
        case .go(let credential, let stamp): return (credential, stamp)
        case .failed(let error): throw AuthenticationError.refreshFailed(error)
        case .userHasChanged: throw AuthenticationError.userHasChanged
        }
    }

    private func refresh(_ credential: Credential, _ number: Int, _ next: InterceptorChain) {
        let refresher = ClosureDataProvider<Void, Credential> { [self] in
            let new = try await RefreshScope.run(for: self) {
                // It is for all who wait, and so not of the call that has begun it.
                try await scheme.refresh(credential, next: next.ofAnotherCall)
            }
            // One that can't be sent is none.
            var probe = ServiceRequest(.get, "/")
            try scheme.authorize(&probe, with: new)
            return new
        }
        // Nor is it paused by whoever has begun it, or heard by whoever listens to that.
        _ = PauseControl.unbind {
            Task(executorPreference: LibraryTask.executor) { [self] in
                let result: Result<Credential, any Error>
                do {
                    result = .success(
                        try await IntegrationProgress.Reporter.unbind {
                            try await refresher.timeout(refreshTimeout, clock: clock).request()
                        })
                } catch {
                    result = .failure(error)
                }
                let notice = state.withLock { $0.end(number, result) }
                if case .go(let new, let stamp)? = notice?.news {
                    if let expiry = scheme.expiry(of: new), isSoon(expiry) {
                        shortLived.withLock { $0 = stamp.credential }
                    }
                    await onRefresh?(new)
                }
                tell(notice)
            }
        }
    }

    private func tell(_ notice: State.Notice?) {
        guard let notice else { return }
        for waiter in notice.to { waiter.end(.success(notice.news)) }
    }
}
