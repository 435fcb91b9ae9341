package import IDMTesting

/// The ways by the pool that work on the main actor takes, each of which may be a while.
package struct HeldWays: Sendable {
    /// Of how many a clock knew.
    package private(set) var seen = 0
    /// Of how many it didn't.
    package private(set) var unseen = 0

    private init() {}

    /// Does work on the main actor, and holds it on each way to look at a clock.
    @MainActor
    package static func known(
        to clock: ManualClock, of work: @escaping @MainActor @Sendable () async throws -> Void
    ) async throws -> HeldWays {
        let (jobs, ways) = (HeldJobs(), Watched(HeldWays()))
        let end = Watched<Result<HeldWays, any Error>?>(nil)
        let working = Task(executorPreference: jobs) { await finish(work, ways, end) }
        // The way of the task to its beginning.
        try await jobs.areWaiting(1)
        jobs.run()
        let holding = Task { @concurrent in
            while true {
                try await jobs.areWaiting(1)
                let isSeen = !clock.isAtRest
                ways.change { if isSeen { $0.seen += 1 } else { $0.unseen += 1 } }
                jobs.run()
            }
        }
        await working.value
        holding.cancel()
        _ = await holding.result
        return try end.value?.get() ?? HeldWays()
    }

    /// What comes after this is the way of the task to its end.
    @MainActor
    private static func finish(
        _ work: @MainActor () async throws -> Void, _ ways: Watched<HeldWays>,
        _ end: Watched<Result<HeldWays, any Error>?>
    ) async {
        do {
            try await work()
            end.change { $0 = .success(ways.value) }
        } catch {
            end.change { $0 = .failure(error) }
        }
    }
}
