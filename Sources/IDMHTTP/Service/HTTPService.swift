internal import Foundation
public import IDMCore

/// A provider that sends the requests of an API to its server, and returns the responses.
///
/// ```swift
/// let service = HTTPService(configuration: ServiceConfiguration(baseURL: url))
/// let response = try await service.request(ServiceRequest(.get, "/users/{id}", pathParameters: ["id": "42"]))
/// ```
///
/// A service is a value. To share settings between APIs, configure one service, copy it per API, and override what
/// differs:
///
/// ```swift
/// var search = shared
/// search.configuration.baseURL = searchURL
/// search.rules.insert(.failureBody(SearchFailure.self), at: 0)
/// ```
///
/// A request ends once: with a response that the rules accept, with an ``HTTPError``, with the error of an interceptor,
/// or with a `CancellationError` as soon as its task is cancelled. It runs away from the caller's actor, unless the
/// memory of the cache answers it. The progress is reported to the ambient `IntegrationProgress`: that of the request's
/// body, and that of the response's body if the status is one from 200 to 299.
public struct HTTPService: DataProvider {
    /// The address of the service, and the settings of all its requests.
    public var configuration: ServiceConfiguration
    /// The transport of the requests.
    public var transport: any HTTPTransport
    /// The interceptors, in the order in which a request passes them.
    public var interceptors: [any HTTPInterceptor]
    /// The rules that decide whether a response is a success, in the order in which they are applied.
    public var rules: [ResponseRule]
    /// The clock of all time-outs.
    public var clock: any Clock<Duration>

    /// The transport of services that aren't given one: on Linux the shared `CurlTransport`, unless the system has no
    /// libcurl that it could use; ``URLSessionTransport/shared`` there, and on Apple's platforms.
    public static let defaultTransport: any HTTPTransport = {
        #if os(Linux)
        if let transport = try? CurlTransport.shared() { return transport }
        #endif
        return URLSessionTransport.shared
    }()

    /// Makes a service. Nothing is sent or checked before the first request.
    public init(
        configuration: ServiceConfiguration, transport: any HTTPTransport = HTTPService.defaultTransport,
        interceptors: [any HTTPInterceptor] = [], rules: [ResponseRule] = [],
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.configuration = configuration
        self.transport = transport
        self.interceptors = interceptors
        self.rules = rules
        self.clock = clock
    }

    /// The address and the transport of the service, within its interceptors. Secrets are redacted.
    public var structure: ProviderStructure {
        let service = ProviderStructure.provider("service: \(configuration), over \(type(of: transport))")
        return interceptors.reversed().reduce(service) { .wrapping($0, in: "\(type(of: $1))") }
    }

    /// Sends a request, and returns its response.
    public func request(_ request: ServiceRequest) async throws -> ServiceResponse {
        try await self.request(request, rules: [])
    }

    /// Sends a request with additional rules, which are applied before the service's own.
    func request(_ request: ServiceRequest, rules: [ResponseRule]) async throws -> ServiceResponse {
        try await answer(to: request, rules: rules, opens: false)
    }

    /// Sends a request, and returns as soon as the header of its response has arrived. The caller reads the body.
    ///
    /// ```swift
    /// let stream = try await service.open(ServiceRequest(.get, "/log"))
    /// for try await line in stream.bytes.lines() { print(line) }
    /// ```
    ///
    /// Interceptors, redirects and rules work as for ``request(_:)``; retries end with the first header that is a
    /// success. The body of a failure is read up to the limit and thrown with the ``HTTPError``.
    ///
    /// The body may have up to ``ServiceConfiguration/Limits/openedBody`` bytes. The idle time-out applies while the
    /// reader waits. A total time-out of the request includes its body; one of the service ends with the header. No
    /// progress is reported.
    public func open(_ request: ServiceRequest) async throws -> ServiceStream {
        let response = try await answer(to: request, rules: [], opens: true)
        return ServiceStream(
            status: response.status, headers: response.headers, url: response.url,
            bytes: response.stream ?? HTTPBytes(response.body))
    }

    private func answer(
        to request: ServiceRequest, rules: [ResponseRule], opens: Bool
    ) async throws -> ServiceResponse {
        try Task.checkCancellation()
        let executor = RequestExecutor(
            configuration: configuration, transport: transport, rules: rules + self.rules, opens: opens)
        let scope = request.scope ?? CredentialScope()
        if mayBeFresh(request, opens: opens),
            let response = try await freshResponse(to: request, executor, scope)
        {
            try Task.checkCancellation()
            return response
        }
        let call = RequestContext(
            interceptors, configuration, scope: scope, clock: clock,
            bodyTimeout: opens ? request.totalTimeout : nil
        ) {
            try await executor.response(to: $0, in: $1)
        }
        let chain = InterceptorChain(call)
        do {
            let response = try await runInTime(request, chain)
            try Task.checkCancellation()
            return response
        } catch {
            // A cancelled task gets nothing else, whatever an interceptor has thrown.
            if Task.isCancelled { throw CancellationError() }
            throw error
        }
    }

    /// Returns true if the cache may answer a request before its time limits start. Interceptors run within them.
    private func mayBeFresh(_ request: ServiceRequest, opens: Bool) -> Bool {
        interceptors.isEmpty && !opens && request.method == .get && configuration.cache.map { !$0.isEmpty } ?? false
    }

    /// Without rules, an answer from memory takes less time than to leave the caller's actor.
    private func freshResponse(
        to request: ServiceRequest, _ executor: RequestExecutor, _ scope: CredentialScope
    ) async throws -> ServiceResponse? {
        guard !executor.rules.isEmpty else { return await executor.freshResponse(to: request, scope) }
        return try await LibraryTask.elsewhere { await executor.freshResponse(to: request, scope) }
    }

    private func runInTime(_ request: ServiceRequest, _ chain: InterceptorChain) async throws -> ServiceResponse {
        // The executor refuses an invalid time-out.
        guard let deadline = request.totalTimeout ?? configuration.totalTimeout, deadline > .zero else {
            return try await LibraryTask.elsewhere { try await run(request, chain) }
        }
        do {
            return try await chain.call.timeout.run(deadline) {
                // The chain gets a cancellation only, but logs the reason.
                chain.call.end(with: .timedOut(.total(deadline)))
            } _: { _ in
                try await run(request, chain)
            }
        } catch is Timeout.Expired {
            throw overdue(request, after: deadline, response: chain.call.received.withLock { $0 })
        }
    }

    /// Returns the error of a request that exceeded its total time-out.
    func overdue(
        _ request: ServiceRequest, after deadline: Duration, response: ServiceResponse? = nil
    ) -> HTTPError {
        HTTPError(
            .timedOut(.total(deadline)), request: request.description(redacted: configuration.redaction),
            response: response)
    }

    /// Runs the interceptors and the executor on no actor.
    @concurrent
    private func run(_ request: ServiceRequest, _ chain: InterceptorChain) async throws -> ServiceResponse {
        try await chain(request)
    }
}

extension HTTPService: CustomStringConvertible, CustomReflectable {
    public var description: String { structure.description }

    /// The description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
