public import Foundation
internal import IDMCore
internal import Synchronization

/// Adds the credential of a user to requests, and refreshes it when the server rejects it.
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
/// - A credential is sent only to the origin of the base URL.
/// - Rejected requests share one refresh, for which new requests wait. Each is sent once more with the new credential; a
///   second rejection is its result. If the refresh fails, each fails with ``AuthenticationError/refreshFailed(_:)``.
///   If the authenticator can't refresh, the rejection is the result.
/// - A request whose body was read and can't be read again fails with ``RequestBody/Fault/usedUp``.
/// - A cancelled request stops waiting; the refresh continues.
/// - When the user logs out, waiting requests and those whose response is still to come fail with
///   ``AuthenticationError/userHasChanged``. No response, and no further piece of a body, is delivered for the old
///   user. The result of a running refresh is discarded.
/// - A retry, or a transfer that continues after a pause, is made for the user of its first attempt. It fails with
///   ``AuthenticationError/userHasChanged`` if the user has changed. A request that was made while no user was logged
///   in has no user: its response is always delivered, and its retries carry the current credential.
/// - A rejection after a redirect over another origin is the result, since the credential wasn't sent there.
/// - A credential that expires within 30 seconds (``Authenticator/expiry(of:)``) is refreshed before the request is
///   sent. If that fails while the credential is still valid, the request is sent with it.
/// - While no user is logged in, requests are sent without a credential, and a rejection is the result. So is a request
///   ``ServiceRequest/withoutAuthentication()``.
///
/// Place it behind interceptors that send requests again, so that each attempt carries the current credential.
public final class AuthenticationInterceptor<Scheme: Authenticator>: HTTPInterceptor {
    /// The credential of a user.
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
    ///   - scheme: Adds credentials to requests, and refreshes them.
    ///   - baseURL: The URL whose origin the credential is for. Requests to other origins pass unchanged.
    ///   - credential: The credential of the user who is logged in. Nil for none.
    ///   - refreshTimeout: The time limit of a refresh. A longer refresh fails and is cancelled; its result is
    ///     discarded.
    ///   - clock: The clock of the time limit.
    ///   - onRefresh: Saves a new credential from a refresh. Called once for each, away from the caller's actor;
    ///     requests that wait for the credential are sent when it returns. Not called if the user has logged out since.
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

    /// The credential of the user who is logged in, to be saved for the next launch. Nil if no user is.
    public var credential: Credential? { state.withLock { $0.credential } }

    /// Logs a user in. Requests of the previous user fail.
    public func logIn(_ credential: Credential) {
        tell(state.withLock { $0.change(to: credential) })
        caches.wipe()
    }

    /// Logs the user out. Their requests fail.
    public func logOut() {
        tell(state.withLock { $0.change(to: nil) })
        caches.wipe()
    }

    /// Replaces the credential of the user who is logged in with one that didn't come from a refresh. Does nothing
    /// while no user is logged in, so that it can't undo a logout.
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

    /// Returns true if the server rejected the credential. After a redirect over another origin it wasn't sent.
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
        // The result may be for a user who has logged out.
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

    /// Returns the credential for a request, refreshed if it expires soon. Nil if no user is logged in.
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
        // The request that started it neither pauses it nor receives its events.
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

/// Marks the requests that a refresh makes while it runs: they don't wait for it.
final class RefreshScope: Sendable {
    @TaskLocal private static var scopes: [ObjectIdentifier: RefreshScope] = [:]

    private let hasEnded = Atomic(false)

    /// Returns true within a running refresh of an interceptor. A task that outlives the refresh is no longer part of
    /// it.
    static func contains(_ interceptor: AnyObject) -> Bool {
        scopes[ObjectIdentifier(interceptor)]?.hasEnded.load(ordering: .acquiring) == false
    }

    static var isRunning: Bool { scopes.values.contains { !$0.hasEnded.load(ordering: .acquiring) } }

    static func run<R: Sendable>(for interceptor: AnyObject, _ refresh: () async throws -> R) async rethrows -> R {
        let scope = RefreshScope()
        defer { scope.hasEnded.store(true, ordering: .releasing) }
        let scopes = scopes.merging([ObjectIdentifier(interceptor): scope]) { $1 }
        return try await LibraryTask.binding($scopes, to: scopes, refresh)
    }
}
