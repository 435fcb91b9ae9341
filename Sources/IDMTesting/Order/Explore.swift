import IDMCore

/// Runs a body once for each seed, each time with its tasks in another order, until one of them fails.
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
/// Ordered are the body, its child tasks, what the library starts from there, and tasks that are started with the
/// executor that the body gets. The same seed gives the same order, as long as nothing else has a part in it: the main
/// actor, a real clock, the network, a `Task { … }` without the executor. A ``ManualClock`` may have. What the body
/// leaves behind when it returns goes on in that order as well, until nothing of it can run.
///
/// The order changes where a task waits, starts, or comes to an actor. From an actor into a function that is on none,
/// and back, the runtime goes without asking the executor: what would have to come between isn't found.
///
/// A run fails when the body throws, or when anything made in it fails as in a ``TestScope``. So make expectations that
/// throw. It also fails when nothing of what is ordered can run any more and the body hasn't ended: when it waits for
/// what never comes, in this order. Whether somebody outside will let it go on nobody can know, so that is given some
/// time. A rest of a ``ManualClock`` that the body waits for has as much as it takes. If the body then waits for a
/// request, a cancel, an end, sleepers, those at a gate or an event of a recorder, that is told with its line. The body
/// is cancelled then and left behind: what goes wrong from there on with what was made in it is told to nobody.
///
/// An exploration within the body has an order of its own, its own patience, and all the time that it takes. A clock
/// that is moved within it doesn't wait for what the order around it has still to run.
///
/// A body that blocks its thread blocks the exploration, as does one that goes on for ever and doesn't hear a cancel:
/// one thing runs at a time, and nobody can take its thread from it. If what it leaves behind goes on for ever, or is
/// on its way to an actor that takes no turns, the exploration ends with a cancel of its task only. What a body leaves
/// behind that throws isn't waited for, and what goes wrong there goes outside of every scope.
///
/// - Parameters:
///   - seeds: The seeds, in the order in which they are tried.
///   - patience: How long somebody outside has to let the body go on, when nothing else can. Zero if everything in the
///     body is ordered, or waits for a ``ManualClock`` of its own: then what hangs fails at once.
///   - clock: What measures the patience.
///   - body: What is run. It gets the executor that orders it.
///   - fileID: The place that a failure points at. Leave it out.
///   - filePath: See `fileID`.
///   - line: See `fileID`.
///   - column: See `fileID`.
/// - Throws: ``ExplorationFailure``, with the seed, also of a run that a cancel of the task cuts short;
///   `CancellationError`, if the task is cancelled between two runs; ``TestFailure``, if there is no seed.
public func explore(
    seeds: some Sequence<Int>, patience: Duration = .seconds(10), clock: any Clock<Duration> = ContinuousClock(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (DeterministicExecutor) async throws -> Void
) async throws {
    let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let outer = LibraryTask.executor as? DeterministicExecutor
    outer?.explorationBegins()
    defer { outer?.explorationEnds() }
    var isEmpty = true
    for seed in seeds {
        isEmpty = false
        try Task.checkCancellation()
        let (scope, executor) = (TestScope(), DeterministicExecutor(seed: UInt64(bitPattern: Int64(seed))))
        let failures: [TestFailure]
        var thrown: (any Error)?
        do {
            try await executor.run(patience: patience, clock: clock) {
                do {
                    try await scope.perform { try await body(executor) }.get()
                } catch {
                    // By now: what it leaves behind may go wrong for that reason, and at any time.
                    throw BodyFailure(error: error, failures: scope.ledger.close())
                }
            }
            // Once the order is over: what is on its way out goes on its way elsewhere, and nobody hangs meanwhile.
            await scope.ledger.checkLeftovers()
            failures = scope.ledger.close()
        } catch let failure as BodyFailure {
            (thrown, failures) = (failure.error, failure.failures)
        } catch let stall as Stall {
            thrown = stall
            // Asked before it hears that it is left: what it does from then on is no news any more.
            failures = scope.ledger.failures(waitingUntil: "nothing was left that could run")
            scope.ledger.leave()
            stall.leaveBody()
        } catch {
            // Cut short.
            thrown = CancellationError()
            failures = scope.ledger.close()
            scope.ledger.leave()
        }
        guard let error = failures.isEmpty ? thrown : TestFailures(failures, thrown: thrown) else { continue }
        throw ExplorationFailure(seed: seed, error: error, place: place)
    }
    if isEmpty { throw TestFailure("Expected a seed at least, and none came.", at: place) }
}

/// What a body has thrown, and what had failed by then.
private struct BodyFailure: Error {
    let error: any Error
    let failures: [TestFailure]
}
