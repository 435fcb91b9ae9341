internal import Synchronization

/// Runs an action for a failure that concerns the whole app, whichever request meets it first: a screen for
/// maintenance, a required update, a user who has to log in again.
///
/// ```swift
/// service.interceptors.insert(.maintenance { error in await screens.showMaintenance() }, at: 0)
/// ```
///
/// The action runs once for a run of such failures, however many requests meet them, and again only after a request has
/// succeeded. The first of the requests waits for it. Each request still fails with its own error.
///
/// Place it before retries and authentication, so that it sees only the failures that those can't resolve.
public final class FailurePolicyInterceptor: HTTPInterceptor {
    private let find: @Sendable (any Error) -> HTTPError?
    private let action: @Sendable (HTTPError) async -> Void
    private let isDone = Atomic(false)

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - matches: Returns true for a failure that the policy is for. Called once for each.
    ///   - action: The action, which runs away from the caller's actor.
    public init(
        when matches: @escaping @Sendable (HTTPError) -> Bool, do action: @escaping @Sendable (HTTPError) async -> Void
    ) {
        find = { error in (error as? HTTPError).flatMap { matches($0) ? $0 : nil } }
        self.action = action
    }

    init(
        finding find: @escaping @Sendable (any Error) -> HTTPError?,
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) {
        self.find = find
        self.action = action
    }

    /// Sends the request, and runs the action for a matching failure.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        do {
            let response = try await next(request)
            isDone.store(false, ordering: .relaxed)
            return response
        } catch {
            if let failure = find(error), !isDone.exchange(true, ordering: .relaxed) { await action(failure) }
            throw error
        }
    }
}

extension HTTPInterceptor where Self == FailurePolicyInterceptor {
    /// For a failure of the API that a rule found in a response: `.failure(of: APIFailure.self) { … }`.
    public static func failure<Failure: Error>(
        of type: Failure.Type, when condition: @escaping @Sendable (Failure) -> Bool = { _ in true },
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) -> FailurePolicyInterceptor {
        FailurePolicyInterceptor(when: { $0.failure(as: type).map(condition) ?? false }, do: action)
    }

    /// For a user who has to log in again: the server answers with the status 401, or refuses to refresh the credential
    /// (``AuthenticationError/refreshFailed(_:)`` with a status from 400 to 499, other than 408 and 429).
    public static func unauthorized(
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) -> FailurePolicyInterceptor {
        FailurePolicyInterceptor(
            finding: { error in
                switch error {
                case let error as HTTPError: error.status == 401 ? error : nil
                case AuthenticationError.refreshFailed(let error as HTTPError): error.isRefusal ? error : nil
                default: nil
                }
            }, do: action)
    }

    /// For an app that is too old for the server: the status 426.
    public static func updateRequired(
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) -> FailurePolicyInterceptor {
        FailurePolicyInterceptor(when: { $0.status == 426 }, do: action)
    }

    /// For a server that is being worked on: the status 503.
    public static func maintenance(
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) -> FailurePolicyInterceptor {
        FailurePolicyInterceptor(when: { $0.status == 503 }, do: action)
    }
}

extension HTTPError {
    /// True if the server has refused the request, and would refuse it again.
    fileprivate var isRefusal: Bool {
        status.map { (400..<500).contains($0) && $0 != 408 && $0 != 429 } ?? false
    }
}
