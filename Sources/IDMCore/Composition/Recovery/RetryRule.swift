/// How often to ask again, after how long, and after which errors.
struct RetryRule: Sendable {
    let count: Int
    let delay: RetryDelay
    let condition: @Sendable (any Error) -> Bool

    /// Whether an error is worth one more retry, after so many. A cancellation never is, and isn't shown to the
    /// condition.
    func allows(_ error: any Error, after retries: Int) -> Bool {
        retries < count && CancelReason(error) == nil && !Task.isCancelled && condition(error)
    }

    /// Returns when it is time for one more retry, or throws the error if there is to be none.
    func waitToRetry(after error: any Error, _ retries: inout Int, on clock: any Clock<Duration>) async throws {
        guard allows(error, after: retries) else { throw error }
        retries += 1
        try await pause(beforeRetry: retries, on: clock)
    }

    /// Waits until it is time for a retry, of which the first is number 1, and while whoever asks has paused the
    /// request. Throws if the task is cancelled.
    func pause(beforeRetry number: Int, on clock: any Clock<Duration>) async throws {
        // A provider that fails at once, again and again and without a delay, would hold its actor up for ever, and no
        // cancel would get through.
        if number.isMultiple(of: 16) { await LibraryTask.yield() }
        try await clock.pause(for: delay.duration(beforeRetry: number))
        try await PauseControl.current?.waitWhilePaused()
    }
}
