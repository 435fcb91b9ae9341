internal import IDMCore
internal import Synchronization

/// Lets so many requests at once go to a host. The others wait, and go in the order in which they came.
///
/// One interceptor may stand in many services: each origin is counted by itself. A request that is cancelled while it
/// waits ends at once. A request that is opened holds its place until its body has been read, or nobody holds the body
/// any more. Put it last, so that no request holds a place while it waits for something else.
public final class ConcurrencyInterceptor: HTTPInterceptor {
    private let entrances: Turnstiles<ServiceOrigin, OneShot<Void>>
    private let didQueue: @Sendable () -> Void

    /// Makes an interceptor.
    ///
    /// - Parameter width: How many requests may go at once. Less than one is one.
    public convenience init(width: Int) {
        self.init(width: width) {}
    }

    /// Makes an interceptor that says when somebody has begun to wait.
    init(width: Int, didQueue: @escaping @Sendable () -> Void) {
        entrances = Turnstiles(width: width)
        self.didQueue = didQueue
    }

    /// Waits for a place, and makes the request.
    public func intercept(_ request: ServiceRequest, next: InterceptorChain) async throws -> ServiceResponse {
        guard let origin = next.configuration.origin else { return try await next(request) }
        try await enter(origin)
        let place = Place { self.leave(origin) }
        var response: ServiceResponse
        do {
            response = try await next(request)
        } catch {
            place.leave()
            throw error
        }
        guard let stream = response.stream else {
            place.leave()
            return response
        }
        response.stream = stream.observed { result in
            if (try? result.get()) == nil { place.leave() }
        }
        return response
    }

    /// How many requests are on their way to an origin, and how many wait.
    func counts(_ origin: ServiceOrigin) -> (inside: Int, waiting: Int) {
        entrances.counts(origin)
    }

    private func enter(_ origin: ServiceOrigin) async throws {
        try Task.checkCancellation()
        let turn = OneShot<Void>()
        guard let number = entrances.enter(origin, turn) else { return }
        EventRecorder.record(.queued)
        didQueue()
        try await LibraryTask.reactingToCancel {
            try await turn.value()
        } onCancel: {
            // If the turn has come at the same time, it is taken, and given back by the request that finds itself
            // cancelled.
            entrances.giveUp(origin, number)?.end(.failure(CancellationError()))
        }
    }

    private func leave(_ origin: ServiceOrigin) {
        entrances.leave(origin)?.end(.success(()))
    }
}

/// A place among those that are on their way. Given back once, and when it is forgotten.
private final class Place: Sendable {
    private let isGiven = Atomic(false)
    private let give: @Sendable () -> Void

    init(_ give: @escaping @Sendable () -> Void) {
        self.give = give
    }

    deinit { leave() }

    func leave() {
        if !isGiven.exchange(true, ordering: .relaxed) { give() }
    }
}
