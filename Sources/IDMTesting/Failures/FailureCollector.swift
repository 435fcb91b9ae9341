import Foundation
import IDMCore

/// Collects the failures of one scope, and runs the checks at its end.
///
/// Every object of the kit keeps the collector that is current when the object is made, so it reports to the right test
/// from any task and any thread.
package final class FailureCollector: Sendable {
    private struct State {
        var handler: TestFailure.Handler?
        /// Failures without a handler, thrown at the end of the scope.
        var failures: [TestFailure] = []
        /// Failures from detached tasks and other threads, delivered to the handler at the end of the scope. A test
        /// framework doesn't know there which test is running.
        var deferred: [TestFailure] = []
        /// The missing things of cancelled waits. These are failures if the task of the scope is cancelled as well.
        var missed: [TestFailure] = []
        var pendingWaits: [PendingWait] = []
        var checks: [EndCheck] = []
        var isClosed = false
        var isAbandoned = false
    }

    private let state: Locked<State>
    private let outer: FailureCollector?
    let waitLimit: Duration

    init(_ handler: TestFailure.Handler?, in outer: FailureCollector? = nil, waitLimit: Duration? = nil) {
        state = Locked(State(handler: handler))
        self.outer = outer
        self.waitLimit = waitLimit ?? outer?.waitLimit ?? PendingWait.defaultLimit
    }

    /// The collector for everything that is made outside of a scope.
    static let outside = FailureCollector(nil)

    /// The collector of the caller's scope.
    package static var current: FailureCollector { TestScope.current?.collector ?? outside }

    /// This collector, and those of the scopes around it, from the inside out.
    var outwards: some Sequence<FailureCollector> { sequence(first: self, next: \.outer) }

    func setHandler(_ handler: TestFailure.Handler?) {
        // The old handler is released outside of the lock: its deinitialization may call back here.
        _ = state.withLock { state in
            defer { state.handler = handler }
            return state.handler
        }
    }

    // MARK: Failures

    /// Records a failure. After the end of its scope it is reported outside of every scope.
    package func record(_ failure: TestFailure) {
        record(failure, isInScope: TestScope.currentCollectors.contains { $0 === self })
    }

    package func record(_ message: String, at place: SourcePlace) {
        record(TestFailure(message, at: place))
    }

    private func record(_ failure: TestFailure, isInScope: Bool) {
        if isAbandoned { return }
        let isOutside = self === FailureCollector.outside
        let handler: TestFailure.Handler? = state.withLock { state in
            if state.isClosed { return { FailureCollector.outside.record($0) } }
            if isOutside { return state.handler ?? LastResort.report }
            guard let handler = state.handler else {
                state.failures.append(failure)
                return nil
            }
            if isInScope { return handler }
            state.deferred.append(failure)
            return nil
        }
        handler?(failure)
    }

    /// Notes what a cancelled wait was missing. Returns false if the scope has ended, and outside of every scope.
    func noteMissing(_ failure: TestFailure) -> Bool {
        guard self !== FailureCollector.outside else { return false }
        return state.withLock { state in
            if !state.isClosed { state.missed.append(failure) }
            return !state.isClosed
        }
    }

    /// Delivers the failures of other tasks, and what cancelled waits were missing. Called in the task of the scope.
    func deliverDeferred() {
        let failures = state.withLock { state in
            defer { state.deferred = [] }
            return state.deferred + Self.takeMissed(&state)
        }
        for failure in failures { record(failure, isInScope: true) }
    }

    private static func takeMissed(_ state: inout State) -> [TestFailure] {
        guard Task.isCancelled else { return [] }
        defer { state.missed = [] }
        return state.missed
    }

    // MARK: Pending waits

    func add(_ wait: PendingWait) {
        state.withLock { $0.pendingWaits.append(wait) }
    }

    func remove(_ wait: PendingWait) {
        state.withLock { state in state.pendingWaits.removeAll { $0 === wait } }
    }

    /// The failures so far, and what the pending waits are missing.
    func failures(endingWaits end: String) -> [TestFailure] {
        let (failures, waits) = state.withLock { ($0.failures + $0.deferred, $0.pendingWaits) }
        return failures + waits.compactMap { $0.missing(end) }
    }

    // MARK: The end

    /// Adds a check for the end of the scope. Outside of every scope there is no end, and no check.
    package func atEnd(_ check: EndCheck) {
        guard self !== FailureCollector.outside else { return }
        state.withLock { if !$0.isClosed && !$0.isAbandoned { $0.checks.append(check) } }
    }

    /// Runs the checks of the stubs at once.
    func checkStubs() {
        let checks = state.withLock { $0.checks.filter { $0.stage == .expectations } }
        for failure in checks.flatMap({ $0.failures() }) { record(failure) }
    }

    /// Runs all checks, stage by stage, with one grace period for everything that is about to end.
    func runEndChecks() async {
        var grace = GracePeriod()
        for stage in EndCheck.Stage.allCases {
            let checks = takeChecks(of: stage)
            while !checks.allSatisfy({ $0.isSettled() }), let pause = grace.next() {
                // In a task of its own: a cancelled test gives what is about to end its time all the same.
                await Task { try? await Task.sleep(for: .milliseconds(pause)) }.value
            }
            report(checks)
        }
    }

    /// Runs all checks where nothing can suspend, as in a method of XCTest.
    ///
    /// A thread of the pool is shared by tasks, so there is a grace period outside of tasks only. The main run loop runs
    /// during that time.
    func runEndChecksOnThread() {
        var grace = GracePeriod()
        let isTask = withUnsafeCurrentTask { $0 != nil }
        for stage in EndCheck.Stage.allCases {
            let checks = takeChecks(of: stage)
            while !isTask, !checks.allSatisfy({ $0.isSettled() }), let pause = grace.next() {
                let end = Date(timeIntervalSinceNow: Double(pause) / 1000)
                if Thread.isMainThread { RunLoop.main.run(until: end) }
                Thread.sleep(until: end)
            }
            report(checks)
        }
    }

    private func takeChecks(of stage: EndCheck.Stage) -> [EndCheck] {
        state.withLock { state in
            defer { state.checks.removeAll { $0.stage == stage } }
            return state.checks.filter { $0.stage == stage }
        }
    }

    private func report(_ checks: [EndCheck]) {
        for failure in checks.flatMap({ $0.failures() }) { record(failure, isInScope: true) }
    }

    /// Ends the scope, and returns the failures that no handler has received.
    func close() -> [TestFailure] {
        // Released while the scope is open: objects that go with the checks may record failures.
        _ = state.withLock { state in
            defer { state.checks = [] }
            return state.checks
        }
        let (failures, last, handler) = state.withLock { state in
            state.isClosed = true
            defer { (state.deferred, state.missed, state.handler) = ([], [], nil) }
            return (state.failures, state.deferred + Self.takeMissed(&state), state.handler)
        }
        guard let handler else { return failures + last }
        if !isAbandoned { last.forEach(handler) }
        return failures
    }

    /// Ignores everything that still happens in the scope, and in the scopes within it.
    func abandon() {
        _ = state.withLock { state in
            state.isAbandoned = true
            defer { state.checks = [] }
            return state.checks
        }
    }

    private var isAbandoned: Bool { outwards.contains { $0.state.withLock { $0.isAbandoned } } }
}

/// A check that runs once, at the end of a scope.
package struct EndCheck: Sendable {
    /// The order of the checks. A check holds what it looks at, so leaks are looked for when all others are gone.
    package enum Stage: CaseIterable, Sendable {
        /// Calls and requests that should have ended.
        case activity
        /// Stubs and routes that should have been used.
        case expectations
        /// Objects that should have been released.
        case release
    }

    let stage: Stage
    let isSettled: @Sendable () -> Bool
    let failures: @Sendable () -> [TestFailure]

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - isSettled: Whether the check can run. It runs in any case when the grace period is over.
    ///   - failures: Finds what is wrong.
    package init(
        _ stage: Stage, isSettled: @escaping @Sendable () -> Bool = { true },
        failures: @escaping @Sendable () -> [TestFailure]
    ) {
        self.stage = stage
        self.isSettled = isSettled
        self.failures = failures
    }
}

/// The pauses between two looks at what is about to end, in milliseconds: about a second in all.
private struct GracePeriod {
    private var pauses = (0..<10).map { 1 << $0 }[...]

    mutating func next() -> Int? { pauses.popFirst() }
}

/// Reports a failure that has no handler: prints it, and makes the process fail when it ends.
private enum LastResort {
    private static let isArmed: Void = {
        _ = atexit {
            // Buffered output is written first.
            fflush(nil)
            _exit(EXIT_FAILURE)
        }
    }()

    static func report(_ failure: TestFailure) {
        _ = isArmed
        let note = "A failure outside of every TestScope, with no handler to report it to: the process will fail."
        let lines = "\(failure.place): error: \(failure.message)\n\(note)\n"
        _ = lines.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
