extension Duration {
    /// A hundred years. Clocks overflow, with a trap, not very far beyond what a `Duration` can hold.
    private static let longest = Duration.seconds(Int64(3_155_760_000))

    /// This duration where a clock can take it: not negative, and not beyond a hundred years.
    package var bounded: Duration { min(max(self, .zero), .longest) }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps, unless there is nothing to sleep. Throws `CancellationError` if the task is or gets cancelled.
    package func pause(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        // Sleeping leaves the caller's actor, where a clock that watches would lose sight of the task.
        if let watched = self as? any WatchedClock { return try await watched.pause(for: duration.bounded) }
        try await sleepInSteps(until: now.advanced(by: duration.bounded))
    }

    /// What sleeps until a time counted from now, whenever it is started.
    package func alarm(after duration: Duration) -> @Sendable () async throws -> Void {
        let deadline = now.advanced(by: duration.bounded)
        return { try await sleepInSteps(until: deadline) }
    }

    /// Sleeps, by a clock of the system in steps, of which each is twice as long as the one before.
    ///
    /// A sleep that is cancelled ends at once, but the system keeps its timer, and the task in it, until the time that
    /// it was for. Of thousands of requests, each with a time-out of minutes, as many would be left. Of one that sleeps
    /// in steps nothing is left for longer than it has slept, and a second.
    package func sleepInSteps(until deadline: Instant) async throws {
        if self is ContinuousClock || self is SuspendingClock {
            var step = Duration.seconds(1)
            while case let end = now.advanced(by: step), end < deadline {
                try await sleep(until: end, tolerance: nil)
                step *= 2
            }
        }
        try await sleep(until: deadline, tolerance: nil)
    }
}
