/// How often to ask again, after how long, and after which errors.
struct RetryRule: Sendable {
    let count: Int
    let delay: RetryDelay
    let condition: @Sendable (any Error) -> Bool

    /// Whether an error is worth one more retry, after so many. A cancellation never is, and isn't shown to the condition.
    func allows(_ error: any Error, after retries: Int) -> Bool {
        retries < count && CancelReason(error) == nil && !Task.isCancelled && condition(error)
    }

    /// Returns when it is time for one more retry, or throws the error if there is to be none.
    func waitToRetry(after error: any Error, _ retries: inout Int, on clock: any Clock<Duration>) async throws {
        guard allows(error, after: retries) else { throw error }
        retries += 1
        await Self.breathe(retries)
        try await clock.pause(for: delay.duration(beforeRetry: retries))
    }

    /// Gives way now and then. A provider that fails at once, again and again and without a delay, would hold its actor up
    /// for ever, and no cancel would get through.
    static func breathe(_ retries: Int) async {
        if retries.isMultiple(of: 16) { await Task.yield() }
    }
}
