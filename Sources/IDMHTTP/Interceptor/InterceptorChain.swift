/// The rest of the chain behind an interceptor: further interceptors, and the transport at its end.
///
/// A chain belongs to one call. All its requests are repetitions of that call, and are made for the same user.
public struct InterceptorChain: Sendable {
    let call: RequestContext
    private let place: Int

    /// A chain that ends with a closure, for the test of an interceptor.
    public init(
        _ interceptors: some Sequence<any HTTPInterceptor> = [], configuration: ServiceConfiguration,
        exchange: @escaping @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) {
        self.init(RequestContext(Array(interceptors), configuration) { request, _ in try await exchange(request) })
    }

    init(_ call: RequestContext, from place: Int = 0) {
        self.call = call
        self.place = place
    }

    /// The service's configuration.
    public var configuration: ServiceConfiguration { call.configuration }

    /// The same chain for a new call, which has no user yet.
    var ofAnotherCall: InterceptorChain {
        InterceptorChain(
            RequestContext(call.interceptors, call.configuration, clock: call.clock, call.exchange), from: place)
    }

    /// Sends a request through the rest of the chain.
    public func callAsFunction(_ request: ServiceRequest) async throws -> ServiceResponse {
        guard place < call.interceptors.endIndex else { return try await call.exchange(request, call) }
        return try await call.interceptors[place].intercept(request, next: InterceptorChain(call, from: place + 1))
    }
}

extension InterceptorChain: CustomStringConvertible, CustomReflectable {
    public var description: String {
        (call.interceptors[place...].map { "\(type(of: $0))" } + ["\(configuration)"]).joined(separator: " → ")
    }

    /// The description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
