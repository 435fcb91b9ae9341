/// A step around each request of a service. It can change the request, answer it itself, or send it again.
///
/// ```swift
/// struct Language: HTTPInterceptor {
///     func intercept(
///         _ request: ServiceRequest, next: InterceptorChain
///     ) async throws -> ServiceResponse {
///         var request = request
///         request.headers[.acceptLanguage] = "en"
///         return try await next(request)
///     }
/// }
/// ```
///
/// A request passes the interceptors in the order of ``HTTPService/interceptors``; its response returns in the opposite
/// order. A response that the rules reject arrives as a thrown error, in most cases an ``HTTPError``. A changed request
/// is checked as if it had been made that way.
///
/// A request of ``HTTPService/open(_:)`` passes the same interceptors. Its response returns as soon as its header has
/// arrived; the body is ``ServiceResponse/stream``, which an interceptor can replace.
///
/// An interceptor runs away from the caller's actor, for several requests at once. When the request is cancelled or its
/// total time-out ends, its task is cancelled. The caller doesn't wait for an interceptor that ignores this.
public protocol HTTPInterceptor: Sendable {
    /// Answers a request, in most cases by means of the rest of the chain.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptor before left it.
    ///   - next: The rest of the chain. It may be called never, once, or again once it has ended.
    func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse
}
