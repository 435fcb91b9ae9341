internal import IDMCore

/// Logs all events of a request when it ends: attempts, redirects, retries with their reasons, byte counts and times.
/// Secrets are redacted.
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
/// The log of a request of ``HTTPService/open(_:)`` ends with the header of its response. Place the interceptor first,
/// so that it sees all events.
public struct EventLogInterceptor: HTTPInterceptor {
    /// Everything that happened to one request.
    public struct Log: Sendable, Hashable, CustomStringConvertible {
        /// The request.
        public let request: String
        /// The events in their order. The last is ``HTTPEvent/Kind/success(status:)`` or
        /// ``HTTPEvent/Kind/failure(_:)``.
        public let events: [HTTPEvent]

        public var description: String {
            ([request] + events.map(\.description)).joined(separator: "\n")
        }
    }

    private let clock: any Clock<Duration>
    private let take: @Sendable (Log) -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - clock: The clock of the times.
    ///   - take: Receives the log of each request when it has ended. Called away from the caller's actor, for several
    ///     requests at once.
    public init(clock: any Clock<Duration> = ContinuousClock(), take: @escaping @Sendable (Log) -> Void) {
        self.clock = clock
        self.take = take
    }

    /// Sends the request, and logs its events.
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
