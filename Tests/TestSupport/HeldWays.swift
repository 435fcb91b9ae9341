package import IDMTesting

/// Does work on the main actor, and holds it on each way by the pool, where it could be a while. Returns whether a
/// clock knew of that, way for way.
///
/// - Parameter passed: Counts the ways that have been gone.
@MainActor
package func heldWays(
    knownTo clock: ManualClock, passed: Observed<Int> = Observed(0),
    _ work: @escaping @MainActor @Sendable () async throws -> Void
) async throws -> [Bool] {
    let (jobs, known) = (HeldJobs(), Observed<[Bool]>([]))
    let end = Observed<Result<[Bool], any Error>?>(nil)
    let working = Task(executorPreference: jobs) { await perform(work, noting: known, to: end) }
    // Its way to the beginning.
    try await jobs.areWaiting(1)
    jobs.run()
    let holding = Task { @concurrent in
        while true {
            try await jobs.areWaiting(1)
            let isKnown = !clock.isAtRest
            known.change { $0.append(isKnown) }
            jobs.run()
            passed.change { $0 += 1 }
        }
    }
    await working.value
    holding.cancel()
    _ = await holding.result
    return try end.value?.get() ?? []
}

/// Does work, and takes note of the ways until its end: what follows is only the way of the task to its own.
@MainActor
private func perform(
    _ work: @MainActor @Sendable () async throws -> Void, noting known: Observed<[Bool]>,
    to end: Observed<Result<[Bool], any Error>?>
) async {
    do {
        try await work()
        end.change { $0 = .success(known.value) }
    } catch {
        end.change { $0 = .failure(error) }
    }
}
