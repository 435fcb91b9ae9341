internal import IDMCore

/// The deadline of a request that may be made again after a pause: what was before counts, and so do the pauses.
struct RequestDeadline: Sendable {
    private let duration: Duration
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let overdue: @Sendable () -> HTTPError

    /// Begins now. Nil if the request has none; what isn't a deadline is left to the service, which says so.
    init?(_ request: ServiceRequest, _ service: HTTPService) {
        guard let deadline = request.totalTimeout, deadline > .zero else { return nil }
        duration = deadline
        clock = service.clock
        elapsed = clock.stopwatch()
        overdue = { service.overdue(request, after: deadline) }
    }

    /// Gives a request what is left. Throws if that is nothing.
    func limit(_ request: inout ServiceRequest) throws { request.totalTimeout = try rest() }

    /// Waits for something, until there is nothing left.
    func wait(for work: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await Timeout(clock).run(try rest()) { _ in try await work() }
        } catch is Timeout.Expired {
            throw overdue()
        }
    }

    /// What an error is to whoever has set the deadline, where the request knew only what was left.
    func whole(_ error: any Error) -> any Error {
        guard elapsed() >= duration, case .timedOut(.total)? = (error as? HTTPError)?.reason else { return error }
        return overdue()
    }

    private func rest() throws -> Duration {
        let rest = duration - elapsed()
        guard rest > .zero else { throw overdue() }
        return rest
    }
}

extension PauseControl {
    /// Waits until the control does not pause, or a deadline is over.
    func waitWhilePaused(until deadline: RequestDeadline?, isolation: isolated (any Actor)? = #isolation) async throws {
        guard let deadline else { return try await waitWhilePaused(isolation: isolation) }
        // A loop: by then it may be paused again, and that isn't to last for longer either.
        while isPaused { try await deadline.wait { try await self.waitWhilePaused() } }
    }
}
