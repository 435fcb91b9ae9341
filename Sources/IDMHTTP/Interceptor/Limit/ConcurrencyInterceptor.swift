internal import IDMCore

/// Limits the number of simultaneous requests per origin. Further requests wait in FIFO order.
///
/// An interceptor can be shared by services: each origin is counted separately. A waiting request that is cancelled
/// ends at once. A request of ``HTTPService/open(_:)`` counts until its body has been read or released. Place it last,
/// so that no request counts while it waits for something else.
public final class ConcurrencyInterceptor: HTTPInterceptor {
    private let limiter: KeyedConcurrencyLimiter<ServiceOrigin, OneShot<Void>>
    private let didQueue: @Sendable () -> Void

    /// Makes an interceptor with a limit of requests of one origin at once. Less than one is one.
    public convenience init(limit: Int) {
        self.init(limit: limit) {}
    }

    /// - Parameter didQueue: Called when a request begins to wait.
    init(limit: Int, didQueue: @escaping @Sendable () -> Void) {
        limiter = KeyedConcurrencyLimiter(limit: limit)
        self.didQueue = didQueue
    }

    /// Waits for a place, and sends the request.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        guard let origin = request.origin(in: next.configuration) else { return try await next(request) }
        try await enter(origin)
        let place = FinalAction { self.leave(origin) }
        var response: ServiceResponse
        do {
            response = try await next(request)
        } catch {
            place.run()
            throw error
        }
        guard let stream = response.stream else {
            place.run()
            return response
        }
        response.stream = stream.observed { result in
            if (try? result.get()) == nil { place.run() }
        }
        return response
    }

    func counts(_ origin: ServiceOrigin) -> (running: Int, waiting: Int) {
        limiter.counts(origin)
    }

    private func enter(_ origin: ServiceOrigin) async throws {
        try Task.checkCancellation()
        let turn = OneShot<Void>()
        guard let number = limiter.enter(origin, turn) else { return }
        EventRecorder.record(.queued)
        didQueue()
        try await LibraryTask.reactingToCancel {
            try await turn.value()
        } onCancel: {
            // A turn that comes at the same time is taken, and given back by the request, which finds itself
            // cancelled.
            limiter.cancel(origin, number)?.end(.failure(CancellationError()))
        }
    }

    private func leave(_ origin: ServiceOrigin) {
        limiter.leave(origin)?.end(.success(()))
    }
}
