public import IDMCore

/// Records the events of calls, and compares them with the expectations of a test.
///
/// ```swift
/// let recorder = IntegrationRecorder<[String]>()
/// recorder.call(users.prepareCall("apple"))
/// try await recorder.waitForEvents(.began, .succeeded(["Ada"]), .completed)
/// ```
///
/// Expectations consume the events in their order. The handlers of the recorder run on the actor on which the call is
/// made, so they don't change its delivery. A recorder is exhaustive: at the end of its ``TestScope``, events that no
/// expectation consumed, and calls that haven't ended with everything chained to them, are failures.
/// ``verify(fileID:filePath:line:column:)`` checks events, calls and stubs earlier. An unended call fails at the line
/// where it was made with the recorder.
///
/// Progress doesn't have to be expected: how many reports are delivered is a matter of timing. An expectation passes over
/// reports that don't meet it, and a report that no expectation consumed is no failure. Two kinds are always delivered,
/// and may be expected with ``EventExpectation/progressed(_:)``: the last report before a value, and the last report
/// before the provider waits for the test.
public final class IntegrationRecorder<Output: Sendable>: Sendable {
    private let state = Observed(State())
    private let isExhaustive: Bool
    private let collector = FailureCollector.current

    /// Makes a recorder. If it is exhaustive, unexpected events and unended calls are failures at the end of the
    /// ``TestScope``, and unused stubs in `verify`.
    public init(
        exhaustive isExhaustive: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.isExhaustive = isExhaustive
        guard isExhaustive else { return }
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        collector.atEnd(
            EndCheck(.activity) { [state] in
                state.change { $0.isSettled() }
            } failures: { [state] in
                Self.leftovers(of: state, at: place, isAtEnd: true)
            })
    }

    // MARK: Recording

    /// Makes a call, and records its events.
    ///
    /// The integrator of the call is held until the last handler has run. To record what happens to the calls of an
    /// integrator that is released, use ``record(_:isolation:)``. The call's own handlers run before the recorder's.
    @discardableResult
    public func call(
        _ call: IntegrationCall<Output>, isolation: isolated (any Actor)? = #isolation,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) -> IntegrationTask<Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let number = state.change { $0.addCall(at: place) }
        let task = Self.recording(call) { [state] event in
            state.change { $0.add(event, ofCall: number) }
        }.call()
        task.hold()
        // Held weakly: what is chained may run for long after the recorded values should be gone.
        task.whenAllFinished { [weak state] in state?.change { $0.endCall(number) } }
        return task
    }

    /// Records every call that is made with an integrator from now on.
    ///
    /// - Parameters:
    ///   - integrator: The integrator. It keeps the handlers of the recorder.
    ///   - isolation: The actor of the handlers. Leave it out for the caller's.
    public func record<Input>(
        _ integrator: Integrator<Input, Output>, isolation: isolated (any Actor)? = #isolation
    ) {
        state.change { state in
            state.hasSources = true
            state.sources += 1
        }
        // Released with the last handler: the integrator holds the handlers, and each of its runs until its end.
        let canary = DeinitObserver { [state] in state.change { $0.sources -= 1 } }
        let call = Self.recording(
            IntegrationCall<Output>.unprepared.observing { [state] step in state.change { $0.openRuns.take(step) } }
        ) { [state, canary] event in
            withExtendedLifetime(canary) { state.change { $0.add(event) } }
        }
        // In one step: a call is recorded from its beginning to its end, or not at all.
        integrator.addHandlers(of: call)
    }

    /// Adds handlers to a call that run on the caller's actor.
    private static func recording(
        _ call: IntegrationCall<Output>, isolation: isolated (any Actor)? = #isolation,
        record: @escaping @Sendable (IntegrationEvent<Output>) -> Void
    ) -> IntegrationCall<Output> {
        call
            .onBeginning { record(.began) }
            .onProgress { record(.progressed($0)) }
            .onRetry { attempt, error in record(.retried(attempt: attempt, after: error)) }
            .onSuccess { record(.succeeded($0)) }
            .onError { record(.failed($0)) }
            .onCancel { record(.cancelled($0)) }
            .onCompletion { record(.completed) }
    }

    /// The events so far, progress included.
    public var events: [IntegrationEvent<Output>] { state.value.events }

    // MARK: Expecting

    /// Waits for the next events, and records a failure unless they are these, in this order.
    ///
    /// The wait ends early when an event doesn't fit, and when no further event can come: the calls of the recorder
    /// have ended with everything chained to them, and recorded integrators are released.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForEvents(
        _ first: EventExpectation<Output>, _ others: EventExpectation<Output>..., within limit: Duration? = nil,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        var expected = ExpectedEvents([first] + others)
        while !expected.areMet {
            try await collector.wait(for: state, at: place, within: limit) {
                !$0.unexpected.isEmpty || $0.isOver
            } missing: { [expected] state in
                if expected.areMet(by: state.unexpected) { return nil }
                var expected = expected
                expected.add(state.upcoming(expected.restCount))
                return expected.message
            }
            switch takeNext(for: &expected) {
            case .fits: continue
            case .isMissing:
                let isMissed = state.change { [count = expected.restCount] state in
                    // Another task that waits may have consumed the event.
                    guard state.isOver && state.unexpected.isEmpty else { return false }
                    state.excuseMissing(count)
                    return true
                }
                if !isMissed { continue }
            case .isAnother: break
            }
            return collector.record("\(expected.message).", at: place)
        }
    }

    /// Records a failure unless the next events have been recorded already, and are these, in this order. It doesn't
    /// wait: use it for events that a function delivers before it returns.
    public func expectRecorded(
        _ first: EventExpectation<Output>, _ others: EventExpectation<Output>..., fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        var expected = ExpectedEvents([first] + others)
        while !expected.areMet {
            switch takeNext(for: &expected) {
            case .fits: continue
            case .isMissing: state.change { [count = expected.restCount] in $0.excuseMissing(count) }
            case .isAnother: break
            }
            let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
            return collector.record("\(expected.message).", at: place)
        }
    }

    private enum Next { case fits, isAnother, isMissing }

    /// Consumes the next event. If it doesn't fit, consumes as many events as the expectations name.
    private func takeNext(for expected: inout ExpectedEvents<Output>) -> Next {
        guard let event = state.change({ $0.takeNext() }) else { return .isMissing }
        // Outside of the lock: an expectation is code of the test.
        if expected.take(event) { return .fits }
        expected.add(state.change { [count = expected.restCount - 1] in $0.takeRest(count) })
        return .isAnother
    }

    /// Records a failure for unexpected events, at this line, and for each call that hasn't ended, at the line of the
    /// call. If the recorder is exhaustive, also for each unused stub of the ``TestScope``. Each is reported once, here
    /// or at the end of the scope. Calls that are chained to others aren't checked here.
    public func verify(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        for failure in Self.leftovers(of: state, at: place, isAtEnd: false) { collector.record(failure) }
        if isExhaustive { collector.checkStubs() }
    }

    private static func leftovers(of state: Observed<State>, at place: SourcePlace, isAtEnd: Bool) -> [TestFailure] {
        let (events, unended, runs) = state.change { state in
            (state.takeUnexpected(), state.takeUnended(isAtEnd: isAtEnd), state.openRuns.takeUnreported())
        }
        var failures = unended
        if !events.isEmpty {
            let words = IntegrationEvent.words(for: events).inWords
            failures.append(TestFailure("Expected nothing more, and \(words) came.", at: place))
        }
        if runs > 0 {
            failures.append(TestFailure("Expected every call to have ended, and \(runs) had not.", at: place))
        }
        return failures
    }
}
