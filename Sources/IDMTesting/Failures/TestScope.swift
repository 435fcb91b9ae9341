import IDMCore

/// The part of a test that the kit's failures belong to, and at whose end nothing may be left over.
///
/// Stubs, recorders and clocks that are made in a scope report to it from any task and any thread, so tests that run at
/// the same time don't see each other's failures. These are failures at the end of the scope: a stub that wasn't asked
/// or has answers left, a request to a controlled provider that has neither been answered nor cancelled, an event that
/// an ``IntegrationRecorder`` recorded and no expectation named, a recorded call that hasn't ended, and an object of a
/// ``LeakTracker`` that something still holds. What is about to end gets a second.
///
/// ```swift
/// try await TestScope.run {
///     let provider = StubDataProvider<String, Int>(1)
///     let count = try await provider.request("apple")
///     #expect(count == 1)
/// }
/// ```
///
/// A test target doesn't name the scope in each test: with the product `IDMTestSupport`, `@Suite(.testScope)` does that
/// for Swift Testing, and `runInTestScope { super.invokeTest() }` for XCTest. See <doc:TestingProvidersAndFlows>.
///
/// With a handler, each failure is reported when it happens; one from a detached task or from a thread of its own is
/// reported at the end of the scope, because a test framework doesn't know there which test is running. Without a
/// handler, all failures are thrown at the end, as ``TestFailures``.
///
/// The waiting functions of the kit have a limit, by default ten seconds of real time. A wait that reaches its limit is
/// a failure at its line that says what was missing. So is a wait that is cancelled together with the scope, as by a
/// time limit. A wait that the test itself cancels is no failure.
///
/// Failures outside of every scope go to the handler of ``report(to:)``. Without such a handler the failure is printed,
/// and the process ends with a failing exit code.
public final class TestScope: Sendable {
    @TaskLocal static var current: TestScope?

    let collector: FailureCollector
    /// Tracks the work that the library starts in the scope. Nested scopes share one, so that a clock of either scope
    /// knows of all work.
    let workload: QuiescenceTracker

    init(_ handler: TestFailure.Handler? = nil, waitLimit: Duration? = nil) {
        let outer = Self.current
        collector = FailureCollector(handler, in: outer?.collector, waitLimit: waitLimit)
        workload = outer?.workload ?? QuiescenceTracker()
        // Before anything in the scope suspends: a clock that is made later must not see half of a wait.
        LibraryTask.beginTracking()
    }

    /// The collectors of the caller's scopes, the innermost first.
    static var currentCollectors: [FailureCollector] {
        guard let current else { return [] }
        return Array(current.collector.outwards)
    }

    /// Runs a body on the caller's actor, and then the checks at the end of the scope.
    ///
    /// If the body throws, the checks don't run, and the error is rethrown.
    ///
    /// - Parameters:
    ///   - leftovers: Whether the checks run at the end of the scope.
    ///   - waitLimit: How long a waiting function of the kit waits, in real time, if it isn't given a limit. Nil for
    ///     that of the outer scope, and outside of a scope for ten seconds, or as many seconds as the environment
    ///     variable `IDM_WAIT_LIMIT` says.
    ///   - handler: Receives each failure. Without a handler the failures are thrown at the end.
    ///   - isolation: The caller's actor. Leave it out.
    ///   - body: The test, or a part of it.
    /// - Throws: The error of the body; ``TestFailures``, if there is no handler and something failed.
    public static func run<R>(
        failingOnLeftovers leftovers: Bool = true, waitLimit: Duration? = nil,
        reportingTo handler: TestFailure.Handler? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> R
    ) async throws -> R {
        let scope = TestScope(handler, waitLimit: waitLimit)
        let result = await scope.perform(body)
        if leftovers && result.error == nil { await scope.collector.runEndChecks() }
        return try scope.close(result)
    }

    /// Runs a body in the scope.
    func perform<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async -> Result<R, any Error> {
        let result: Result<R, any Error>
        do {
            let value = try await LibraryTask.binding(Self.$current, to: self) {
                try await LibraryTask.binding(LibraryTask.$executor, to: LibraryTask.executor ?? workload, body)
            }
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        collector.deliverDeferred()
        return result
    }

    /// Runs a body that doesn't suspend, as
    /// ``run(failingOnLeftovers:waitLimit:reportingTo:isolation:_:)`` does.
    ///
    /// Outside of tasks, as in a method of XCTest, what is about to end gets a second, during which the main run loop
    /// runs. In a task the checks run at once.
    @_disfavoredOverload
    public static func run<R>(
        failingOnLeftovers leftovers: Bool = true, waitLimit: Duration? = nil,
        reportingTo handler: TestFailure.Handler? = nil, _ body: () throws -> R
    ) throws -> R {
        let scope = TestScope(handler, waitLimit: waitLimit)
        let result = Result {
            try $current.withValue(scope) {
                try LibraryTask.$executor.withValue(LibraryTask.executor ?? scope.workload) { try body() }
            }
        }
        scope.collector.deliverDeferred()
        if leftovers && result.error == nil { scope.collector.runEndChecksOnThread() }
        return try scope.close(result)
    }

    /// Runs a body and returns its failures, for tests of checks of your own.
    ///
    /// - Throws: An error of the body that is no ``TestFailure``; ``TestFailures`` with that error, if something failed
    ///   as well.
    public static func failures(
        failingOnLeftovers leftovers: Bool = true, waitLimit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    ) async throws -> [TestFailure] {
        do {
            _ = try await run(failingOnLeftovers: leftovers, waitLimit: waitLimit, body)
            return []
        } catch {
            let found = TestFailures([], thrown: error)
            if let failure = found.error as? TestFailure { return found.failures + [failure] }
            guard found.error == nil else { throw error }
            return found.failures
        }
    }

    /// Sets the handler for failures outside of every scope, for the whole process.
    public static func report(to handler: TestFailure.Handler?) {
        FailureCollector.outside.setHandler(handler)
    }

    private func close<R>(_ result: Result<R, any Error>) throws -> R {
        let failures = collector.close()
        guard failures.isEmpty else { throw TestFailures(failures, thrown: result.error) }
        return try result.get()
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
