import IDMCore

/// The part of a test in which the kit's failures belong to that test, and at the end of which nothing may be left
/// over.
///
/// What is made inside of a scope (stubs, recorders, clocks) reports to it from wherever it is used, also from other
/// threads. So tests that run beside each other don't hear each other. At the end of the scope everything made in it is
/// looked at once more. A stub that nobody asked is a failure; an event that an ``IntegrationRecorder`` has heard and
/// nobody expected; a call that it follows and that hasn't ended; what a ``LeakTracker`` was given and somebody still
/// holds. A call that no recorder follows may go on, and so may a task.
///
/// ```swift
/// try await TestScope.run {
///     let provider = StubDataProvider<String, Int>(1)
///     let count = try await provider.request("apple")
///     #expect(count == 1)
/// }
/// ```
///
/// Without a handler the failures are thrown together at the end, as ``TestFailures``: any test framework takes that
/// for a failed test, and prints the lines. With a handler each goes where you say, as it happens; one that happens in
/// a detached task, or on a thread of its own, at the end of the scope: a test framework doesn't know there whose it
/// is. One trait for Swift Testing, or one method of a base class for XCTest, hands all of a suite's failures to the
/// framework, with their lines: <doc:TestingProvidersAndFlows>.
///
/// If the task that runs the scope is cancelled, by a time limit for one, what the test waited for and hadn't come is a
/// failure, at the line of the wait: a request, a cancel, an end, sleepers, those at a gate, an event of a recorder. A
/// wait that the test itself cancels is none, unless the scope is cancelled as well.
///
/// What is made outside of every scope reports to the handler of ``report(to:)``, and so does what was made in one that
/// has ended. If there is no such handler, the failure is printed, and the process ends with a failing exit code, so
/// that it is never lost.
public final class TestScope: Sendable {
    @TaskLocal static var current: TestScope?

    let ledger: FailureLedger
    /// Counts what the library starts in the scope. A scope within another one shares it: a clock of either is to know
    /// of all of it.
    let workload: Workload

    init(_ handler: TestFailure.Handler? = nil) {
        let outer = Self.current
        ledger = FailureLedger(handler, in: outer?.ledger)
        workload = outer?.workload ?? Workload()
        // Before anything waits in the scope: a clock that is made later is to find no wait of which half was told.
        LibraryTask.beginWatching()
    }

    /// Those of the scopes that the caller is in, the inmost first.
    static var currentLedgers: [FailureLedger] {
        guard let current else { return [] }
        return Array(current.ledger.outwards)
    }

    /// Tells the scopes that the caller is in that something begins there. Returns what tells them of its end.
    static func begin(_ part: FailureLedger.OpenPart) -> () -> Void {
        let ledgers = currentLedgers
        for ledger in ledgers { ledger.begin(part) }
        return { for ledger in ledgers { ledger.end(part) } }
    }

    /// Runs a body, and then looks at what it leaves behind.
    ///
    /// The body runs on the caller's actor. If it throws, its error is thrown on, and nothing is asked of what it left
    /// behind: only what had failed until then is reported.
    ///
    /// - Parameters:
    ///   - leftovers: Whether stubs that weren't used up, and what recorders and leak trackers find left over, are
    ///     failures at the end.
    ///   - handler: Takes each failure as it happens. Without one they are thrown at the end.
    ///   - isolation: The caller's actor. Leave it out.
    ///   - body: The test, or a part of it.
    /// - Throws: What the body throws; ``TestFailures``, if there is no handler and something failed.
    public static func run<R>(
        failingOnLeftovers leftovers: Bool = true, reportingTo handler: TestFailure.Handler? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async throws -> R {
        let scope = TestScope(handler)
        let result = await scope.perform(body)
        if leftovers && result.error == nil { await scope.ledger.checkLeftovers() }
        return try scope.close(result)
    }

    /// Runs a body in the scope.
    func perform<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async -> Result<R, any Error> {
        // An exploration that the body comes to a standstill in looks here as well. Who waits here is known there.
        let end = Self.begin(FailureLedger.OpenPart { [ledger] _ in ledger.failures })
        defer { end() }
        let result: Result<R, any Error>
        do {
            let value = try await LibraryTask.binding(Self.$current, to: self) {
                try await LibraryTask.binding(LibraryTask.$executor, to: LibraryTask.executor ?? workload, body)
            }
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        ledger.gather()
        return result
    }

    /// Runs the body of a test that doesn't suspend. See ``run(failingOnLeftovers:reportingTo:isolation:_:)``.
    ///
    /// Made on a thread that no task runs on, as in a method of XCTest, it gives what is on its way out as much time,
    /// and lets the main run loop go on meanwhile. In a task it doesn't wait.
    @_disfavoredOverload
    public static func run<R>(
        failingOnLeftovers leftovers: Bool = true, reportingTo handler: TestFailure.Handler? = nil,
        _ body: () throws -> R
    ) throws -> R {
        let scope = TestScope(handler)
        let result = Result {
            try $current.withValue(scope) {
                try LibraryTask.$executor.withValue(LibraryTask.executor ?? scope.workload) { try body() }
            }
        }
        scope.ledger.gather()
        if leftovers && result.error == nil { scope.ledger.checkLeftoversOnThread() }
        return try scope.close(result)
    }

    /// Runs a body and returns what the kit found wrong in it, also if the body throws a part of that, as a stub does
    /// that isn't to be asked, or a scope within it that reports to nobody. For tests of your own checks.
    ///
    /// - Throws: What the body throws besides; ``TestFailures`` with it, if something failed as well.
    public static func failures(
        failingOnLeftovers leftovers: Bool = true, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async throws -> [TestFailure] {
        do {
            // Without a handler: what fails as the scope ends is in it or comes too late, and is never on its way.
            _ = try await run(failingOnLeftovers: leftovers, body)
            return []
        } catch {
            let found = TestFailures([], thrown: error)
            guard found.error == nil else { throw error }
            return found.failures
        }
    }

    /// Says who hears of failures outside of every scope, in the whole process. Nil for nobody.
    public static func report(to handler: TestFailure.Handler?) {
        FailureLedger.outside.setHandler(handler)
    }

    private func close<R>(_ result: Result<R, any Error>) throws -> R {
        let failures = ledger.close()
        guard failures.isEmpty else { throw TestFailures(failures, thrown: result.error) }
        return try result.get()
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
