import IDMHTTP

/// An interceptor made of a closure.
struct ClosureInterceptor: HTTPInterceptor {
    private let body: @Sendable (ServiceRequest, InterceptorChain) async throws -> ServiceResponse

    init(_ body: @escaping @Sendable (ServiceRequest, InterceptorChain) async throws -> ServiceResponse) {
        self.body = body
    }

    func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        try await body(request, next)
    }
}
