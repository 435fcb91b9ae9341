import IDMCore

/// Runs a body once for each seed, each time with its tasks in another order, until one run fails.
///
/// ```swift
/// try await explore(seeds: 0..<500) { _ in
///     let account = Account()
///     async let first: Void = account.deposit(1)
///     async let second: Void = account.deposit(1)
///     _ = await (first, second)
///     try #require(await account.balance == 2)
/// }
/// ```
///
/// The order covers the body, its child tasks, the tasks that the library starts from there, and tasks that are started
/// with the executor that the body gets. The same seed gives the same order unless other work takes part: the main
/// actor, a real clock, the network, a `Task { … }` without the executor. A ``ManualClock`` may take part. Tasks that the
/// body leaves behind run on in that order until nothing of them can run.
///
/// The order changes where a task suspends, starts, or enters an actor. It doesn't change where a function on an actor
/// calls a function on none.
///
/// A run fails when the body throws, and for each failure that a ``TestScope`` reports, so use expectations that throw.
/// It also fails when nothing of the order can run and the body hasn't ended: if the body then waits in a function of
/// the kit, the failure names the line of that wait and what was missing. Such a body is cancelled and left behind.
///
/// A body that blocks its thread, or that runs for ever and ignores its cancel, blocks the exploration.
///
/// - Parameters:
///   - seeds: The seeds, in the order in which they are tried.
///   - patience: How long work outside of the order may take before a body that waits has failed. Zero, if there is no
///     such work: then a body that hangs fails at once.
///   - body: The body. It gets the executor that orders it.
///   - fileID: The place that a failure points at. Leave it out.
///   - filePath: See `fileID`.
///   - line: See `fileID`.
///   - column: See `fileID`.
/// - Throws: ``ExplorationFailure`` with the seed; `CancellationError`, if the task is cancelled; ``TestFailure``, if
///   there is no seed.
public func explore(
    seeds: some Sequence<Int>, patience: Duration = .seconds(10),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (DeterministicExecutor) async throws -> Void
) async throws {
    let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
    var isEmpty = true
    for seed in seeds {
        isEmpty = false
        try Task.checkCancellation()
        guard let error = await failure(of: body, seed: seed, patience: patience) else { continue }
        try Task.checkCancellation()
        throw ExplorationFailure(seed: seed, error: error, place: place)
    }
    if isEmpty { throw TestFailure("Expected at least one seed, and none came.", at: place) }
}

/// Runs the body in the order of one seed.
private func failure(
    of body: @escaping @Sendable (DeterministicExecutor) async throws -> Void, seed: Int, patience: Duration
) async -> (any Error)? {
    let (scope, executor) = (TestScope(), DeterministicExecutor(seed: UInt64(bitPattern: Int64(seed))))
    do {
        try await executor.run(patience: patience) {
            do {
                try await scope.perform { try await body(executor) }.get()
            } catch {
                // Closed at once: tasks that the body leaves behind may fail because of its end.
                let failures = scope.collector.close()
                throw failures.isEmpty ? error : TestFailures(failures, thrown: error)
            }
        }
        await scope.collector.runEndChecks()
        let failures = scope.collector.close()
        return failures.isEmpty ? nil : TestFailures(failures, thrown: nil)
    } catch let standstill as Standstill {
        // Read before the body is cancelled: what it does from then on is ignored.
        let failures = scope.collector.failures(endingWaits: "until nothing was left that could run")
        scope.collector.abandon()
        standstill.body.cancel()
        return failures.isEmpty ? standstill : TestFailures(failures, thrown: standstill)
    } catch {
        return error
    }
}

/// A run of an exploration that failed.
public struct ExplorationFailure: Error, CustomStringConvertible {
    /// The seed of the run: `explore(seeds: [seed])` repeats it.
    public let seed: Int
    /// The error of the body, or the ``TestFailures`` of the run.
    public let error: any Error
    /// The line of the exploration.
    public let place: SourcePlace

    /// The place, the seed and the error.
    public var description: String { "\(place): expected every order to pass, and seed \(seed) failed: \(error)" }
}
