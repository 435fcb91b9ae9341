internal import IDMCore

/// Tells somebody, at the end of each request, of everything that happened to it: attempts, redirects, retries and why,
/// the bytes and the times. Secrets are redacted.
///
/// ```text
/// GET /a
/// 0.000 s attempt 1
/// 0.104 s response 503
/// 0.105 s received 0 bytes
/// 0.105 s retry 1 after 2.000 s: GET /a: The server answered with the status 503.
/// 2.106 s attempt 2
/// 2.190 s response 200
/// 2.204 s received 5120 bytes
/// 2.204 s success 200
/// ```
///
/// The log of a request that is opened ends with the header of its response.
///
/// Put it first, so that nothing happens outside of it.
public struct EventLogInterceptor: HTTPInterceptor {
    /// Everything that happened to one request.
    public struct Log: Sendable, Hashable, CustomStringConvertible {
        /// The request.
        public let request: String
        /// What happened, in the order in which it did. The last is ``HTTPEvent/Kind/success(status:)`` or
        /// ``HTTPEvent/Kind/failure(_:)``.
        public let events: [HTTPEvent]

        /// The request, and each event on a line of its own.
        public var description: String {
            ([request] + events.map(\.description)).joined(separator: "\n")
        }
    }

    private let clock: any Clock<Duration>
    private let take: @Sendable (Log) -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - clock: What measures the times.
    ///   - take: Takes a log, once for each request, when it has ended. Called away from the caller's actor, for
    ///     several requests at once.
    public init(clock: any Clock<Duration> = ContinuousClock(), take: @escaping @Sendable (Log) -> Void) {
        self.clock = clock
        self.take = take
    }

    /// Makes the request, and tells what happened to it.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        let name = request.description(redacted: next.configuration.redaction)
        let recorder = EventRecorder(clock: clock)
        do {
            let response = try await LibraryTask.binding(EventRecorder.$current, to: recorder) {
                try await next(request)
            }
            take(Log(request: name, events: recorder.end(.success(status: response.status))))
            return response
        } catch {
            let cause = next.call.cause(of: error, of: name)
            let reason = cause is CancellationError ? "cancelled" : cause.safeName
            take(Log(request: name, events: recorder.end(.failure(reason))))
            throw error
        }
    }
}
