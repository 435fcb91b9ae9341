public import IDMCore

/// Records every event of calls, and holds them against what the test expects.
///
/// ```swift
/// let recorder = IntegrationRecorder<[String]>()
/// recorder.call(users.prepareCall("apple"))
/// try await recorder.expect(.began, .succeeded(["Ada"]), .completed)
/// ```
///
/// Expectations are met in the order of the events, each event once. The recorder's handlers are written on the actor
/// on which the call is made, so they don't change how it is delivered. A recorder is exhaustive unless it is told
/// otherwise: at the end of its ``TestScope``, and in ``verify(fileID:filePath:line:column:)``, events that nobody
/// expected, calls that haven't ended, and stubs of the scope that weren't used up are failures.
public final class IntegrationRecorder<Output: Sendable>: Sendable {
    private struct State {
        var events: [IntegrationEvent<Output>] = []
        var expectedCount = 0
        /// Calls made with the recorder, and those of them of which nothing comes any more.
        var made = 0
        var over = 0
        /// Those of them that haven't had their last event, and how many runs of each have begun and not completed: with
        /// its recalls, a call has several.
        var unended: [Int: Int] = [:]
        /// Whether a run that `thenRecall` has added to them is still to come, or to end.
        var recalls: [Int: @Sendable () -> Bool] = [:]
        /// Calls of integrators that have begun, and haven't completed.
        var running = 0
        /// How many calls of each integrator that is heard wait.
        var waiting: [@Sendable () -> Int] = []

        /// Whether no event can come any more.
        var isOver: Bool { made > 0 && made == over && waiting.isEmpty }
        var unexpected: ArraySlice<IntegrationEvent<Output>> { events.dropFirst(expectedCount) }

        /// How many calls haven't ended. One that has a recall to come is one of them.
        func unendedCount(recalled: Set<Int>) -> Int {
            waiting.reduce(running + recalled.union(unended.keys).count) { $0 + $1() }
        }

        mutating func make() -> Int {
            made += 1
            unended[made] = 0
            return made
        }

        mutating func hear(_ event: IntegrationEvent<Output>, of call: Int) {
            events.append(event)
            switch event {
            case .began: unended[call, default: 0] += 1
            case .completed:
                unended[call, default: 1] -= 1
                leave(call)
            case .cancelled: leave(call)
            default: break
            }
        }

        /// A run of a call ends. Those of its runs that have begun complete.
        mutating func leave(_ call: Int) {
            if unended[call] == 0 { unended[call] = nil }
        }
    }

    private let state = Watched(State())
    private let isExhaustive: Bool
    private let place: SourcePlace
    private let ledger: FailureLedger

    /// Makes a recorder that hears nothing yet.
    ///
    /// - Parameters:
    ///   - isExhaustive: Whether what nobody expected, and a stub that wasn't used up, is a failure at the end of the
    ///     ``TestScope``. Where that asks nothing of leftovers, the recorder asks only in
    ///     ``verify(fileID:filePath:line:column:)``.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    public init(
        exhaustive isExhaustive: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        ledger = .current
        self.isExhaustive = isExhaustive
        guard isExhaustive else { return }
        ledger.atEnd { [state, place] in Self.leftovers(of: state, at: place) }
    }

    // MARK: Recording

    /// Records a call, and makes it.
    ///
    /// A run that `thenRecall` adds to the call belongs to it: the call has ended when that has, also if it still waits
    /// for its turn.
    ///
    /// - Parameters:
    ///   - call: The call. Its own handlers run before the recorder's.
    ///   - isolation: The caller's actor. Leave it out.
    @discardableResult
    public func call(
        _ call: IntegrationCall<Output>, isolation: isolated (any Actor)? = #isolation
    ) -> IntegrationTask<Output> {
        let number = state.change { $0.make() }
        let hear = { @Sendable [state] (event: IntegrationEvent<Output>) in state.change { $0.hear(event, of: number) }
        }
        let task =
            call
            .onBeginning { hear(.began) }
            .onProgress { hear(.progressed($0)) }
            .onRetry { attempt, error in hear(.retried(attempt: attempt, after: error)) }
            .onSuccess { hear(.succeeded($0)) }
            .onError { hear(.failed($0)) }
            .onCancel { hear(.cancelled($0)) }
            .onCompletion { hear(.completed) }
            .call(isolation: isolation) { task in state.change { $0.recalls[number] = task.recallInquiry } }
        // Not with the call alone: a recall tells the same handlers again.
        task.whenAllFinished { [state] in
            state.change { state in
                state.over += 1
                state.recalls[number] = nil
                state.leave(number)
            }
        }
        return task
    }

    /// Records every call that is made with an integrator from now on.
    ///
    /// A run that `thenRecall` adds with this integrator is a call like any other: it counts from the moment it is made,
    /// when the first run has ended.
    ///
    /// - Parameters:
    ///   - integrator: The integrator. It keeps the recorder's handlers.
    ///   - isolation: The actor that the handlers are to run on. Leave it out for the caller's.
    public func hear<Input>(
        _ integrator: Integrator<Input, Output>, isolation: isolated (any Actor)? = #isolation
    ) {
        weak let heard = integrator
        state.change { $0.waiting.append { heard?.waitingCount ?? 0 } }
        let state = state
        integrator
            .onBeginning {
                state.change { state in
                    state.running += 1
                    state.events.append(.began)
                }
            }
            .onProgress { progress in state.change { $0.events.append(.progressed(progress)) } }
            .onRetry { attempt, error in state.change { $0.events.append(.retried(attempt: attempt, after: error)) } }
            .onSuccess { value in state.change { $0.events.append(.succeeded(value)) } }
            .onError { error in state.change { $0.events.append(.failed(error)) } }
            .onCancel { reason in state.change { $0.events.append(.cancelled(reason)) } }
            .onCompletion {
                state.change { state in
                    state.running -= 1
                    state.events.append(.completed)
                }
            }
    }

    /// What has been heard so far.
    public var events: [IntegrationEvent<Output>] { state.value.events }

    // MARK: Expecting

    /// Waits for the next events, and fails unless they are these, in this order.
    ///
    /// It waits no longer than until an event is another one, or until every call made with the recorder has ended, and
    /// everything chained to it: then what hasn't come won't.
    ///
    /// - Throws: `CancellationError`, if the task that waits is cancelled. What is missing then is a failure as well,
    ///   so that a time limit says more than that time was over.
    public func expect(
        _ expected: EventExpectation<Output>..., fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        var came: [IntegrationEvent<Output>] = []
        func fail(_ verb: String) {
            came += takeEvents(expected.count - came.count)
            let words = (expected.map(\.description).inWords, came.map(\.words).inWords)
            ledger.record("Expected \(words.0), and \(words.1) \(verb).", at: place)
        }
        for expectation in expected {
            do {
                try await state.wait { !$0.unexpected.isEmpty || $0.isOver }
            } catch {
                fail("came until the cancel")
                throw error
            }
            guard let event = takeEvents(1).first else { return fail("came") }
            came.append(event)
            // Asked outside of the lock: it may be the user's code.
            guard expectation.isMet(event) else { return fail("came") }
        }
    }

    private func takeEvents(_ count: Int) -> [IntegrationEvent<Output>] {
        state.change { state in
            let events = Array(state.unexpected.prefix(count))
            state.expectedCount += events.count
            return events
        }
    }

    /// Fails if something has come that nobody expected, or if a call hasn't ended. If the recorder is exhaustive, also
    /// for each stub of its ``TestScope`` that wasn't used up, where that was made.
    public func verify(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        for failure in Self.leftovers(of: state, at: place) { ledger.record(failure) }
        if isExhaustive { ledger.checkStubs() }
    }

    private static func leftovers(of watched: Watched<State>, at place: SourcePlace) -> [TestFailure] {
        // Asked before the rest is looked at: a recall that ends meanwhile has left its events there.
        let recalled = Set(watched.value.recalls.filter { $0.value() }.keys)
        let state = watched.value
        let unendedCount = state.unendedCount(recalled: recalled)
        var failures: [TestFailure] = []
        if !state.unexpected.isEmpty {
            failures.append(
                TestFailure("Expected nothing more, and \(state.unexpected.map(\.words).inWords) came.", at: place))
        }
        if unendedCount > 0 {
            failures.append(
                TestFailure("Expected every call to have ended, and \(unendedCount) had not.", at: place))
        }
        return failures
    }
}

extension [String] {
    /// The elements in a row, or that there are none.
    fileprivate var inWords: String { isEmpty ? "nothing" : joined(separator: ", ") }
}
