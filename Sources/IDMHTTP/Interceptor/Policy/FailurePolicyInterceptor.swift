internal import Synchronization

/// Does something about a failure that concerns the whole app, whichever request meets it first: a screen for
/// maintenance, an update that is required, a user who has to log in again.
///
/// ```swift
/// service.interceptors.insert(.maintenance { error in await screens.showMaintenance() }, at: 0)
/// ```
///
/// The action is done once for a run of such failures, however many requests meet it, and again only after a request
/// has succeeded in between. The request that met the failure first waits for it. Each request fails with its own error
/// all the same.
///
/// Put it before retries and authentication, so that it hears only of what they could do nothing about.
public final class FailurePolicyInterceptor: HTTPInterceptor {
    private let matches: @Sendable (HTTPError) -> Bool
    private let action: @Sendable (HTTPError) async -> Void
    private let isDone = Atomic(false)

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - matches: Whether a failure is one that the policy is for. Asked once for each.
    ///   - action: What is done about it, away from the caller's actor.
    public init(
        when matches: @escaping @Sendable (HTTPError) -> Bool, do action: @escaping @Sendable (HTTPError) async -> Void
    ) {
        self.matches = matches
        self.action = action
    }

    /// Makes the request, and does something about its failure.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        do {
            let response = try await next(request)
            isDone.store(false, ordering: .relaxed)
            return response
        } catch let error as HTTPError where matches(error) {
            if !isDone.exchange(true, ordering: .relaxed) { await action(error) }
            throw error
        }
    }
}

extension HTTPInterceptor where Self == FailurePolicyInterceptor {
    /// For a failure that a rule found in a response, of a type of its own: `.failure(of: APIFailure.self) { … }`.
    ///
    /// - Parameters:
    ///   - type: The type of the failure.
    ///   - condition: Whether the policy is for this one.
    ///   - action: What is done about it.
    public static func failure<Failure: Error>(
        of type: Failure.Type, when condition: @escaping @Sendable (Failure) -> Bool = { _ in true },
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) -> FailurePolicyInterceptor {
        FailurePolicyInterceptor(when: { $0.failure(as: type).map(condition) ?? false }, do: action)
    }

    /// For a credential that the server doesn't take any more: the status 401.
    public static func unauthorized(
        do action: @escaping @Sendable (HTTPError) async -> Void
    ) -> FailurePolicyInterceptor {
        FailurePolicyInterceptor(when: { $0.status == 401 }, do: action)
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
