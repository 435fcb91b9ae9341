/// The number of retries, the wait before each, and the errors that are retried.
struct RetryRule: Sendable {
    let count: Int
    let delay: RetryDelay
    let condition: @Sendable (any Error) -> Bool

    /// Returns whether `error` is retried after `retries` retries. A cancellation never is, and is not passed to the
    /// condition.
    func allows(_ error: any Error, after retries: Int) -> Bool {
        retries < count && CancelReason(error) == nil && !Task.isCancelled && condition(error)
    }

    /// Waits until the next retry, or throws `error` if it is not retried.
    func waitToRetry(after error: any Error, _ retries: inout Int, on clock: any Clock<Duration>) async throws {
        guard allows(error, after: retries) else { throw error }
        retries += 1
        try await pause(beforeRetry: retries, on: clock)
    }

    /// Waits for the delay before a retry, of which the first is number 1, and while the request is paused. Throws if the
    /// task is cancelled.
    func pause(beforeRetry number: Int, on clock: any Clock<Duration>) async throws {
        // A provider that keeps failing at once, without a delay, would occupy its actor, and no cancel would arrive.
        if number.isMultiple(of: 16) { await LibraryTask.yield() }
        try await clock.pause(for: delay.duration(beforeRetry: number))
        try await PauseControl.current?.waitWhilePaused()
    }
}
