internal import IDMCore

/// The state of one call, shared by all requests of its interceptor chain.
final class RequestContext: Sendable {
    let configuration: ServiceConfiguration
    let interceptors: [any HTTPInterceptor]
    let exchange: @Sendable (ServiceRequest, RequestContext) async throws -> ServiceResponse
    let scope: CredentialScope
    let clock: any Clock<Duration>
    let timeout: Timeout
    /// The total time-out of an opened body, from the start of the call. Nil for none.
    let bodyTimeout: Duration?
    private let ending = Locked<HTTPError.Reason?>(nil)
    /// The head of the last response, for the error of a time-out.
    let received = Locked<ServiceResponse?>(nil)

    init(
        _ interceptors: [any HTTPInterceptor], _ configuration: ServiceConfiguration,
        scope: CredentialScope = CredentialScope(), clock: any Clock<Duration> = ContinuousClock(),
        bodyTimeout: Duration? = nil,
        _ exchange: @escaping @Sendable (ServiceRequest, RequestContext) async throws -> ServiceResponse
    ) {
        self.interceptors = interceptors
        self.configuration = configuration
        self.scope = scope
        self.bodyTimeout = bodyTimeout
        self.clock = clock
        timeout = Timeout(clock)
        self.exchange = exchange
        // At the start of the call: the user may change while it waits.
        if let cookies = configuration.cookies { _ = scope.include(cookies.generation, of: cookies) }
    }

    /// Stores the reason for which the call ends. Its work is cancelled next, and sees nothing but a cancellation.
    func end(with reason: HTTPError.Reason) {
        ending.withLock { $0 = reason }
    }

    /// Returns the error to log for `error`: for a cancellation, the reason for which the call was ended, if there is
    /// one.
    func cause(of error: any Error, of request: String) -> any Error {
        guard error is CancellationError, let reason = ending.withLock({ $0 }) else { return error }
        return HTTPError(reason, request: request)
    }
}
