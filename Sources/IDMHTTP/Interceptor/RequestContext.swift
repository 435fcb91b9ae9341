internal import IDMCore

/// One call of a service: what all the requests have in common that are made of its chain.
final class RequestContext: Sendable {
    let configuration: ServiceConfiguration
    let interceptors: [any HTTPInterceptor]
    let exchange: @Sendable (ServiceRequest, CredentialScope) async throws -> ServiceResponse
    let scope: CredentialScope
    private let ending = Locked<HTTPError.Reason?>(nil)

    init(
        _ interceptors: [any HTTPInterceptor], _ configuration: ServiceConfiguration,
        scope: CredentialScope = CredentialScope(),
        _ exchange: @escaping @Sendable (ServiceRequest, CredentialScope) async throws -> ServiceResponse
    ) {
        self.interceptors = interceptors
        self.configuration = configuration
        self.scope = scope
        self.exchange = exchange
        // From its beginning: whoever comes while it waits for something is somebody else.
        if let cookies = configuration.cookies { _ = scope.include(cookies.generation, of: cookies) }
    }

    /// Stores the reason for which the call ends. Its work is cancelled next, and sees nothing but a cancellation.
    func giveUp(_ reason: HTTPError.Reason) {
        ending.withLock { $0 = reason }
    }

    /// Returns the error to log for `error`: for a cancellation, the reason for which the call was ended, if there is
    /// one.
    func cause(of error: any Error, of request: String) -> any Error {
        guard error is CancellationError, let reason = ending.withLock({ $0 }) else { return error }
        return HTTPError(reason, request: request)
    }
}
