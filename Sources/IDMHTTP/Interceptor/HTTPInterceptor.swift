/// Something around each request of a service: it may change the request, answer it itself, or make it again.
///
/// ```swift
/// struct Language: HTTPInterceptor {
///     func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
///         var request = request
///         request.headers[.acceptLanguage] = "en"
///         return try await next(request)
///     }
/// }
/// ```
///
/// Interceptors stand in the order in which a request passes them; its response comes back the other way. What comes
/// back has been judged: a failure is thrown, as an ``HTTPError`` in most cases. Whatever an interceptor does to a
/// request is checked as if it had been so from the start.
///
/// A request that is opened (``HTTPService/open(_:)``) passes the same interceptors. Its response comes back as soon as
/// its header has: the body is ``ServiceResponse/stream``, which an interceptor hands on, or puts other bytes in the
/// place of.
///
/// It runs away from the caller's actor, for several requests at once. When the request is cancelled or its deadline is
/// over, its task is cancelled; an interceptor that goes on regardless is left behind.
public protocol HTTPInterceptor: Sendable {
    /// Answers a request, with the help of what comes next.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptor before left it.
    ///   - next: The interceptors behind this one, and the transport behind them. It may be called never, once, or
    ///     again once it has ended.
    func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse
}
