import Foundation
import IDMCore

/// Where failures are written down: that of a scope, or the one for everything outside.
///
/// Whatever is made takes the ledger that is current then, so that it finds it from any thread.
package final class FailureLedger: Sendable {
    /// Looks at something that was made in the scope, once more at its end.
    package typealias Check = @Sendable () -> [TestFailure]

    /// What a check looks at.
    package enum Leftover: Sendable {
        /// Who hasn't ended.
        case call
        /// Who was to be asked, looked at when what is chained to calls has had time to ask.
        case stub, route
        /// What is chained to calls, and is given time to end, with all that is heard.
        case chain
        /// What is still held, and is given time to go. A check holds what it looks at, so these come when the others
        /// have gone.
        case leak
    }

    private struct State {
        var handler: TestFailure.Handler?
        var failures: [TestFailure] = []
        /// What came from elsewhere, and waits to be handed on where the scope is.
        var elsewhere: [TestFailure] = []
        /// What was missing where somebody was cancelled who waited for it.
        var missing: [TestFailure] = []
        /// What has begun in the scope and hasn't ended.
        var open: [OpenPart] = []
        var checks: [(kind: Leftover, check: Check)] = []
        /// Say whether what is given time has gone.
        var departures: [(kind: Leftover, isGone: @Sendable () -> Bool)] = []
        var isClosed = false
        var isLeft = false

        /// Whether what is made now is looked at in the end.
        var isToEnd: Bool { !isClosed && !isLeft }

        /// What was missing, if it is a failure: asked where the scope is. If it isn't yet, it may be one later.
        mutating func takeMissing() -> [TestFailure] {
            guard Task.isCancelled else { return [] }
            defer { missing = [] }
            return missing
        }
    }

    private let state: Locked<State>
    /// That of the scope that this one's lies in.
    private let outer: FailureLedger?

    /// This one, and those of the scopes around it, from the inside out.
    var outwards: some Sequence<FailureLedger> { sequence(first: self, next: \.outer) }

    init(_ handler: TestFailure.Handler?, in outer: FailureLedger? = nil) {
        state = Locked(State(handler: handler))
        self.outer = outer
    }

    /// The ledger of what is made outside of every scope.
    static let outside = FailureLedger(nil)

    /// The ledger of the scope that the caller is in.
    package static var current: FailureLedger { TestScope.current?.ledger ?? outside }

    func setHandler(_ handler: TestFailure.Handler?) {
        // The one before is let go of outside of the lock: with it may go what comes back here.
        _ = state.withLock { state in
            defer { state.handler = handler }
            return state.handler
        }
    }

    /// Leaves behind what is still done in the scope, and in those within it.
    func leave() {
        drop { $0.isLeft = true }
    }

    /// Looks at nothing any more that was made here. Checks hold what they look at: they go outside of the lock.
    private func drop<R>(_ change: (inout State) -> R) -> R {
        let (result, dropped) = state.withLock { state in
            defer { (state.checks, state.departures) = ([], []) }
            return (change(&state), (state.checks, state.departures))
        }
        return withExtendedLifetime(dropped) { result }
    }

    private var isLeft: Bool { outwards.contains { $0.state.withLock { $0.isLeft } } }

    /// Writes a failure down. One that comes after the end of its scope goes outside. In a detached task, or on a
    /// thread of its own, a test framework doesn't know whose it is: one from there is handed on at the end of its
    /// scope.
    package func record(_ failure: TestFailure) {
        record(failure, isHere: TestScope.currentLedgers.contains { $0 === self })
    }

    private func record(_ failure: TestFailure, isHere: Bool) {
        // What an exploration has left behind is no news any more.
        if isLeft { return }
        enum Way {
            case kept, handed(TestFailure.Handler), late, unheard
        }
        let way: Way = state.withLock { state in
            if state.isClosed { return .late }
            let isOutside = self === FailureLedger.outside
            if let handler = state.handler, isHere || isOutside { return .handed(handler) }
            if state.handler != nil {
                state.elsewhere.append(failure)
                return .kept
            }
            if isOutside { return .unheard }
            state.failures.append(failure)
            return .kept
        }
        switch way {
        case .kept: break
        case .handed(let handler): handler(failure)
        case .late: FailureLedger.outside.record(failure)
        case .unheard: LastResort.tell(failure)
        }
    }

    package func record(_ message: String, at place: SourcePlace) {
        record(TestFailure(message, at: place))
    }

    /// Writes down what was missing when somebody was cancelled who waited for it. Whoever cancels a wait on purpose
    /// has no need of it any more, so that is a failure only if the whole scope was cancelled.
    ///
    /// - Returns: False if the scope has ended. The one outside never begins.
    func miss(_ failures: [TestFailure]) -> Bool {
        guard self !== FailureLedger.outside else { return false }
        return state.withLock { state in
            if !state.isClosed { state.missing += failures }
            return !state.isClosed
        }
    }

    func begin(_ part: OpenPart) {
        state.withLock { $0.open.append(part) }
    }

    func end(_ part: OpenPart) {
        state.withLock { state in state.open.removeAll { $0 === part } }
    }

    /// What has failed by now, and nobody has been handed.
    var failures: [TestFailure] { state.withLock { $0.failures + $0.elsewhere } }

    /// What has failed by now, also in the scopes within, and what is waited for where nothing goes on.
    func failures(waitingUntil end: String) -> [TestFailure] {
        failures + state.withLock { $0.open }.flatMap { $0.failures(end) }
    }

    /// Adds what is to be looked at when the scope ends. Outside of every scope nothing ends, and what is made after
    /// the end is looked at by nobody.
    package func atEnd(_ kind: Leftover, _ check: @escaping Check) {
        guard self !== FailureLedger.outside else { return }
        state.withLock { if $0.isToEnd { $0.checks.append((kind, check)) } }
    }

    /// Adds what is to have gone when the scope ends: whether it has, and what to say where it hasn't.
    package func atEnd(_ kind: Leftover, isGone: @escaping @Sendable () -> Bool, _ check: @escaping Check) {
        guard self !== FailureLedger.outside else { return }
        state.withLock { state in
            guard state.isToEnd else { return }
            state.departures.append((kind, isGone))
            state.checks.append((kind, check))
        }
    }

    /// Looks at all stubs that were made in the scope, before it ends.
    func checkStubs() {
        let checks = state.withLock { $0.checks.filter { $0.kind == .stub } }
        for failure in checks.flatMap({ $0.check() }) { record(failure) }
    }

    /// What is looked at one after the other at the end, and what is given time just before.
    private static let looks: [(departing: Leftover?, kinds: Set<Leftover>)] = [
        (nil, [.call]), (.chain, [.stub, .route, .chain]), (.leak, [.leak]),
    ]

    /// Looks for the last time at what is left of some kinds. Nothing is held of the checks when this returns.
    private func finish(_ kinds: Set<Leftover>) {
        let checks = state.withLock { state in
            defer { state.checks.removeAll { kinds.contains($0.kind) } }
            return state.checks.filter { kinds.contains($0.kind) }
        }
        for failure in checks.flatMap({ $0.check() }) { record(failure, isHere: true) }
    }

    /// Hands on what came from elsewhere, and what was missing if the scope is cancelled. Asked in the scope's task.
    func gather() {
        let failures = state.withLock { state in
            defer { state.elsewhere = [] }
            return state.elsewhere
        }
        for failure in failures { record(failure, isHere: true) }
        let missing = state.withLock { $0.takeMissing() }
        for failure in missing { record(failure, isHere: true) }
    }

    /// Looks at all that was made in the scope, and gives what is on its way out the time for that.
    func checkLeftovers() async {
        for look in Self.looks {
            if let kind = look.departing { await waitForDepartures(of: kind) }
            finish(look.kinds)
        }
    }

    /// The same where nothing can suspend, as in a method of XCTest.
    func checkLeftoversOnThread() {
        for look in Self.looks {
            if let kind = look.departing { waitForDeparturesOnThread(of: kind) }
            finish(look.kinds)
        }
    }

    /// Waits for what is on its way out: whoever has told a test that something is over may hold it for a moment more,
    /// on a thread of its own. Less and less often, and for a second of each kind, so only a test that fails takes its
    /// time.
    func waitForDepartures(of kind: Leftover) async {
        let haveGone = takeDepartures(of: kind)
        if haveGone() { return }
        // In a task of its own: a time limit that has cancelled this one takes no time from what goes.
        await LibraryTask.startLater { _ in
            for pause in Self.pauses {
                // For a scope within an exploration: whoever orders this task is to know that it comes back.
                let trip = LibraryTask.depart()
                try? await Task.sleep(for: .milliseconds(pause))
                trip?.workArrived()
                if haveGone() { return }
            }
        }.value
    }

    /// The same where nothing can suspend. Not in a task, whose thread is others' as well: what is on its way out there
    /// has to have gone.
    ///
    /// It has to look again and again: an object of somebody else's tells nobody that it goes. And it may sleep: a
    /// thread of the pool always runs a task, so one without a task is the caller's own, as the main thread of a test
    /// run is.
    private func waitForDeparturesOnThread(of kind: Leftover) {
        let haveGone = takeDepartures(of: kind)
        guard withUnsafeCurrentTask(body: { $0 == nil }) else { return }
        for pause in Self.pauses {
            if haveGone() { return }
            let end = Date(timeIntervalSinceNow: Double(pause) / 1000)
            // What is to go may wait for its turn on this thread.
            if Thread.isMainThread { RunLoop.main.run(until: end) }
            Thread.sleep(until: end)
        }
    }

    private static let pauses = (0..<10).map { 1 << $0 }

    /// Says whether all have gone. Asks each of them: who is asked knows that it has been given time.
    private func takeDepartures(of kind: Leftover) -> @Sendable () -> Bool {
        let departures = state.withLock { state in
            defer { state.departures.removeAll { $0.kind == kind } }
            return state.departures.filter { $0.kind == kind }
        }
        return { departures.map { $0.isGone() }.allSatisfy { $0 } }
    }

    /// Ends the scope, and returns the failures that nobody has been handed. What wasn't looked at isn't any more.
    func close() -> [TestFailure] {
        // While the scope is open: what goes with them may fail in it, or make something in it.
        drop { _ in }
        // In one step: what comes from elsewhere is handed on, or goes outside. The scope may have been cancelled since
        // its leftovers were looked at.
        let (failures, last, handler) = drop { state in
            state.isClosed = true
            defer {
                (state.elsewhere, state.missing) = ([], [])
                // Nothing is handed to it any more, and it may hold what was made in the scope.
                state.handler = nil
            }
            return (state.failures, state.elsewhere + state.takeMissing(), state.handler)
        }
        guard let handler else { return failures + last }
        if !isLeft { last.forEach(handler) }
        return failures
    }
}

/// What happens to a failure that nobody hears: it is printed, and the process fails when it ends.
private enum LastResort {
    private static let isArmed: Void = {
        _ = atexit {
            // What has been printed and waits in a buffer is not to be lost with it.
            fflush(nil)
            _exit(EXIT_FAILURE)
        }
    }()

    static func tell(_ failure: TestFailure) {
        _ = isArmed
        let words = "A failure outside of every TestScope, with no handler to report it to: the process will fail."
        let line = "\(failure.place): error: \(failure.message)\n\(words)\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
