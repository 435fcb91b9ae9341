extension Duration {
    /// A hundred years. Clocks trap on overflow not far beyond it.
    private static let longest = Duration.seconds(Int64(3_155_760_000))

    /// The duration clamped to the range that clocks accept: from zero to a hundred years.
    package var bounded: Duration { min(max(self, .zero), .longest) }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for a positive duration. Throws `CancellationError` if the task is or gets cancelled.
    package func pause(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        // Sleeping leaves the caller's actor, where the test kit's clock would lose sight of the task.
        if let watched = self as? any TrackedClock { return try await watched.pause(for: duration.bounded) }
        try await sleepInSteps(until: now.advanced(by: duration.bounded))
    }

    /// Returns a closure that sleeps until `duration` from now, whenever it is called.
    package func alarm(after duration: Duration) -> @Sendable () async throws -> Void {
        let deadline = now.advanced(by: duration.bounded)
        return { try await sleepInSteps(until: deadline) }
    }

    /// Sleeps until `deadline`. On a clock of the system it sleeps in steps, each twice as long as the one before.
    ///
    /// A cancelled sleep ends at once, but the system keeps its timer, and the task in it, until the original deadline.
    /// With thousands of requests and time-outs of minutes, as many timers would remain. A timer of a sleep in steps
    /// remains no longer than the sleep has lasted, plus a second.
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
