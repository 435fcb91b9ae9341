/// One call of a service: what all the requests have in common that are made of its chain.
final class ServiceCall: Sendable {
    let configuration: ServiceConfiguration
    let interceptors: [any HTTPInterceptor]
    let exchange: @Sendable (ServiceRequest, RequestOwners) async throws -> ServiceResponse
    let owners: RequestOwners

    init(
        _ interceptors: [any HTTPInterceptor], _ configuration: ServiceConfiguration,
        owners: RequestOwners = RequestOwners(),
        _ exchange: @escaping @Sendable (ServiceRequest, RequestOwners) async throws -> ServiceResponse
    ) {
        self.interceptors = interceptors
        self.configuration = configuration
        self.owners = owners
        self.exchange = exchange
        // From its beginning: whoever comes while it waits for something is somebody else.
        if let cookies = configuration.cookies { _ = owners.include(cookies.generation, of: cookies) }
    }
}
