extension Duration {
    /// A hundred years. Clocks overflow, with a trap, not very far beyond what a `Duration` can hold.
    private static let longest = Duration.seconds(3_155_760_000)

    /// This duration where a clock can take it: not negative, and not beyond a hundred years.
    var bounded: Duration { min(max(self, .zero), .longest) }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps, unless there is nothing to sleep. Throws `CancellationError` if the task is or gets cancelled.
    func pause(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        // Sleeping leaves the caller's actor, where a clock that watches would lose sight of the task.
        if let watched = self as? any WatchedClock { return try await watched.pause(for: duration.bounded) }
        try await sleep(until: now.advanced(by: duration.bounded), tolerance: nil)
    }

    /// What sleeps until a time counted from now, whenever it is started.
    func alarm(after duration: Duration) -> @Sendable () async throws -> Void {
        let deadline = now.advanced(by: duration.bounded)
        return { try await sleep(until: deadline, tolerance: nil) }
    }
}
