internal import Synchronization

/// One call of a service: what all the requests have in common that are made of its chain.
final class ServiceCall: Sendable {
    let configuration: ServiceConfiguration
    let interceptors: [any HTTPInterceptor]
    let exchange: @Sendable (ServiceRequest) async throws -> ServiceResponse
    private let users = Mutex<[ObjectIdentifier: Int]>([:])

    init(
        _ interceptors: [any HTTPInterceptor], _ configuration: ServiceConfiguration,
        _ exchange: @escaping @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) {
        self.interceptors = interceptors
        self.configuration = configuration
        self.exchange = exchange
    }

    /// Whether a request may go for a user, or for nobody with nil. The first user to whom an interceptor gives a
    /// credential has the call from then on.
    func belongs(to user: Int?, of interceptor: AnyObject) -> Bool {
        users.withLock { users in
            let owner = users[ObjectIdentifier(interceptor)] ?? user
            users[ObjectIdentifier(interceptor)] = owner
            return owner == user
        }
    }
}
