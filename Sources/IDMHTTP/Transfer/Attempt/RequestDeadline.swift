internal import IDMCore

/// The deadline of a request that may be made again after a pause: what was before counts, and so do the pauses.
struct RequestDeadline: Sendable {
    private let duration: Duration?
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let description: @Sendable () -> String

    /// Begins now. What isn't a deadline is left to the service, which says so.
    init(_ request: ServiceRequest, _ service: HTTPService) {
        duration = request.deadline.flatMap { $0 > .zero ? $0 : nil }
        clock = service.clock
        elapsed = clock.stopwatch()
        description = { [redaction = service.configuration.redaction] in request.description(redacted: redaction) }
    }

    private var error: HTTPError { HTTPError(.timedOut(.deadline(duration ?? .zero)), request: description()) }

    /// Gives a request what is left.
    func limit(_ request: inout ServiceRequest) throws {
        if let rest = try rest() { request.deadline = rest }
    }

    /// Waits for something, until there is nothing left.
    func wait(for work: @escaping @Sendable () async throws -> Void) async throws {
        guard let rest = try rest() else { return try await work() }
        do {
            try await SilenceWatch(duration: rest, clock: clock).run { _ in try await work() }
        } catch is SilenceWatch.Silence {
            throw error
        }
    }

    /// What an error is to whoever has set the deadline, where the request knew only what was left.
    func whole(_ error: any Error) -> any Error {
        guard let duration, elapsed() >= duration, case .timedOut(.deadline)? = (error as? HTTPError)?.reason else {
            return error
        }
        return self.error
    }

    private func rest() throws -> Duration? {
        guard let rest = duration.map({ $0 - elapsed() }) else { return nil }
        guard rest > .zero else { throw error }
        return rest
    }
}
