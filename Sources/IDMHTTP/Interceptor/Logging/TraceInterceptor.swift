public import IDMCore

/// Records each request and its events in a trace, with secrets redacted. Place it first, so that it sees all events.
public struct TraceInterceptor: HTTPInterceptor {
    private let recorder: TraceRecorder
    private let track: String

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - recorder: The recorder of the trace.
    ///   - track: The name of the track of the requests.
    public init(_ recorder: TraceRecorder, on track: String = "http") {
        self.recorder = recorder
        self.track = track
    }

    /// Sends the request, and records it.
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
