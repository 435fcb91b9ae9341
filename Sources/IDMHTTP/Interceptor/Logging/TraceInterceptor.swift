public import IDMCore

/// Records each request in a trace, and what happens to it: attempts, redirects, retries and why, bytes. Secrets are
/// redacted.
///
/// ```swift
/// service.interceptors.insert(TraceInterceptor(trace), at: 0)
/// ```
///
/// Put it first, so that nothing happens outside of it.
public struct TraceInterceptor: HTTPInterceptor {
    private let recorder: TraceRecorder
    private let track: String

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - recorder: What takes the requests.
    ///   - track: The name of the track on which they are shown.
    public init(_ recorder: TraceRecorder, on track: String = "http") {
        self.recorder = recorder
        self.track = track
    }

    /// Makes the request, and records it.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        let name = request.description(redacted: next.configuration.redaction)
        let span = recorder.begin(name, on: track)
        let events = EventRecorder(clock: ContinuousClock()) { span.mark($0.description) }
        do {
            let response = try await LibraryTask.binding(EventRecorder.$current, to: events) { try await next(request) }
            events.close()
            span.end("success \(response.status)")
            return response
        } catch {
            events.close()
            let cause = next.call.cause(of: error, of: name)
            span.end(cause is CancellationError ? "cancelled" : "failure: \(cause.safeName)")
            throw error
        }
    }
}
