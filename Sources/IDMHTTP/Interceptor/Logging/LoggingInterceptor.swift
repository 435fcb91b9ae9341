internal import IDMCore
/// Logs each request and its result, with secrets redacted.
///
/// ```text
/// → POST /login
/// ← POST /login: 200, 512 bytes, 0.042 s
/// ✗ GET /a: The server answered with the status 404. 0.003 s
/// ```
///
/// Place it last to log every attempt, or first to log each request once.
public struct LoggingInterceptor: HTTPInterceptor {
    /// The form in which a request is logged.
    public enum Style: Sendable, Hashable {
        /// Method, path and query.
        case line
        /// A cURL command: ``ServiceRequest/curl(for:redacted:)``.
        case curl
    }

    private let style: Style
    private let clock: any Clock<Duration>
    private let log: @Sendable (String) -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - style: The form in which a request is logged.
    ///   - clock: The clock of the durations.
    ///   - log: Receives a message. Called away from the caller's actor, for several requests at once.
    public init(
        _ style: Style = .line, clock: any Clock<Duration> = ContinuousClock(),
        log: @escaping @Sendable (String) -> Void
    ) {
        self.style = style
        self.clock = clock
        self.log = log
    }

    /// Logs the request, sends it, and logs its result.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        let name = request.description(redacted: next.configuration.redaction)
        let elapsed = clock.stopwatch()
        // An invalid request has no command; its failure is logged.
        let command = style == .curl ? try? request.curl(for: next.configuration) : nil
        log("→ \(command ?? name)")
        do {
            let response = try await next(request)
            log("← \(name): \(response), \(elapsed().inSeconds)")
            return response
        } catch {
            let failure =
                switch next.call.cause(of: error, of: name) {
                case let cause as HTTPError: "\(cause)"
                case is CancellationError: "\(name): cancelled,"
                case let cause: "\(name): \(cause.safeName),"
                }
            log("✗ \(failure) \(elapsed().inSeconds)")
            throw error
        }
    }
}
