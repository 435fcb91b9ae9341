/// What comes behind an interceptor: the other ones, and the transport behind them.
///
/// A chain is of one call: whatever is made of it is the same thing done again, and goes for the same user.
public struct InterceptorChain: Sendable {
    /// What the chain is of.
    let call: RequestContext
    private let place: Int

    /// A chain that ends with an exchange: for a service, or for the test of an interceptor.
    public init(
        _ interceptors: some Sequence<any HTTPInterceptor> = [], configuration: ServiceConfiguration,
        exchange: @escaping @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) {
        self.init(RequestContext(Array(interceptors), configuration) { request, _ in try await exchange(request) })
    }

    /// The chain of a call, from a place on.
    init(_ call: RequestContext, from place: Int = 0) {
        self.call = call
        self.place = place
    }

    /// The service's configuration.
    public var configuration: ServiceConfiguration { call.configuration }

    /// The same chain as one of another call, which goes for nobody yet.
    var ofAnotherCall: InterceptorChain {
        InterceptorChain(RequestContext(call.interceptors, call.configuration, call.exchange), from: place)
    }

    /// Makes a request of what comes next.
    public func callAsFunction(_ request: ServiceRequest) async throws -> ServiceResponse {
        guard place < call.interceptors.endIndex else { return try await call.exchange(request, call.scope) }
        return try await call.interceptors[place].intercept(request, next: InterceptorChain(call, from: place + 1))
    }
}

extension InterceptorChain: CustomStringConvertible, CustomReflectable {
    /// The interceptors that come next, and where the service is, with secrets redacted.
    public var description: String {
        (call.interceptors[place...].map { "\(type(of: $0))" } + ["\(configuration)"]).joined(separator: " → ")
    }

    /// Nothing but the description: what is dumped holds no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
