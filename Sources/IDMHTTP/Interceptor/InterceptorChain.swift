/// What comes behind an interceptor: the other ones, and the transport behind them.
public struct InterceptorChain: Sendable {
    /// The service's configuration.
    public let configuration: ServiceConfiguration
    private let interceptors: ArraySlice<any HTTPInterceptor>
    private let exchange: @Sendable (ServiceRequest) async throws -> ServiceResponse

    /// A chain that ends with an exchange: for a service, or for the test of an interceptor.
    public init(
        _ interceptors: some Sequence<any HTTPInterceptor> = [], configuration: ServiceConfiguration,
        exchange: @escaping @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) {
        self.init(Array(interceptors)[...], configuration, exchange)
    }

    private init(
        _ interceptors: ArraySlice<any HTTPInterceptor>, _ configuration: ServiceConfiguration,
        _ exchange: @escaping @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) {
        self.interceptors = interceptors
        self.configuration = configuration
        self.exchange = exchange
    }

    /// Makes a request of what comes next.
    public func callAsFunction(_ request: ServiceRequest) async throws -> ServiceResponse {
        guard let first = interceptors.first else { return try await exchange(request) }
        return try await first.intercept(
            request, next: InterceptorChain(interceptors.dropFirst(), configuration, exchange))
    }
}
