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
/// otherwise: at the end of its ``TestScope`` events that nobody expected, and calls that haven't ended, are failures,
/// and ``verify(fileID:filePath:line:column:)`` asks also for the stubs of the scope that weren't used up. A call made
/// with ``call(_:isolation:fileID:filePath:line:column:)`` fails at its own line, others at that of the recorder.
///
/// What is chained to a call made with it and hasn't ended is a failure as well, at the end of the scope and only
/// there: whoever hears the last event of a chain knows of its end before the call does, so the scope gives it a
/// second. A scope that doesn't suspend in a task can't, and says nothing of chains.
///
/// Progress need not be expected, unless the recorder is made so. Sequences, groups and models report some of their
/// own, and of reports that come soon after one another only the last may be heard: how many there are is a matter of
/// luck. So an expectation passes over reports that don't meet it, and one that nobody expected is no failure. Two
/// kinds are sure to be heard, and may be expected with ``EventExpectation/progressed(_:)``: the last report before a
/// value, and the last one before the provider waits for the test. All that came are in ``events``.
public final class IntegrationRecorder<Output: Sendable>: Sendable {
    private let state: Watched<State>
    private let open = Watched(OpenCalls())
    private let isExhaustive: Bool
    private let passesOverProgress: Bool
    private let place: SourcePlace
    private let ledger: FailureLedger

    /// Makes a recorder that hears nothing yet.
    ///
    /// - Parameters:
    ///   - isExhaustive: Whether events that nobody expected, and calls that haven't ended, with what is chained to
    ///     them, are failures at the end of the ``TestScope``, and whether
    ///     ``verify(fileID:filePath:line:column:)`` asks for stubs as well. What is expected is as strict either way.
    ///     At the end of the scope a stub that wasn't used up is a failure in any case. Where a scope asks nothing of
    ///     leftovers, the recorder asks only in `verify`.
    ///   - passesOverProgress: Whether progress need not be expected. If not, a report is an event like the others: for
    ///     calls of which you know what they report, and that is heard.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    public init(
        exhaustive isExhaustive: Bool = true, passingOverProgress passesOverProgress: Bool = true,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        ledger = .current
        self.isExhaustive = isExhaustive
        self.passesOverProgress = passesOverProgress
        state = Watched(State(passesOverProgress: passesOverProgress))
        guard isExhaustive else { return }
        ledger.atEnd(.call) { [state, open] in Self.unended(of: state, open) }
        // Whoever has heard the last event of a chain knows of its end before the one who made it does.
        ledger.atEnd(.chain, isGone: { [open] in open.change { $0.areOver() } }) { [state, open, place] in
            Self.heardLeftovers(of: state, at: place)
                + open.change { $0.tellChained() }.map { place in
                    TestFailure("Expected all that is chained to the call to have ended, and it had not.", at: place)
                }
        }
    }

    // MARK: Recording

    /// Records a call, and makes it.
    ///
    /// A run that `thenRecall` adds to the call belongs to it: the call has ended when that has, also if it still waits
    /// for its turn. The call's integrator is held until its last handler has run, so it need not be stored;
    /// to see what becomes of the calls of one that is let go of, record it with ``hear(_:isolation:)``.
    ///
    /// - Parameters:
    ///   - call: The call. Its own handlers run before the recorder's.
    ///   - isolation: The caller's actor. Leave it out.
    ///   - fileID: The place that a failure points at if the call doesn't end. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    @discardableResult
    public func call(
        _ call: IntegrationCall<Output>, isolation: isolated (any Actor)? = #isolation,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) -> IntegrationTask<Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let number = state.change { state in
            state.made += 1
            return state.made
        }
        open.change { $0.begin(number, at: place, isChained: call.isChained) }
        let task =
            Self.recording(call) { [state] step in
                state.change { $0.calls[number, default: OpenRuns()].take(step) }
            } hear: { [state] event in
                state.change { state in
                    state.events.append(event)
                    state.calls[number]?.hear(event)
                }
            }
            .call(isolation: isolation) { task in state.change { $0.recalls[number] = task.recallInquiry } }
        task.hold()
        // Not with the call alone: a recall tells the same handlers again. What is chained may go on for long, and
        // holds nothing of what was heard.
        task.whenAllFinished { [weak state, open] in
            open.change { $0.end(number) }
            // Taken out first: it is to be let go outside of the lock.
            _ = state?.change { state -> (@Sendable () -> Bool)? in
                state.over += 1
                state.calls[number] = nil
                return state.recalls.removeValue(forKey: number)
            }
        }
        return task
    }

    /// Records every call that is made with an integrator from now on.
    ///
    /// A run that `thenRecall` adds with this integrator is a call like any other: it counts from the moment it is
    /// made, when the first run has ended.
    ///
    /// - Parameters:
    ///   - integrator: The integrator. It keeps the recorder's handlers.
    ///   - isolation: The actor that the handlers are to run on. Leave it out for the caller's.
    public func hear<Input>(
        _ integrator: Integrator<Input, Output>, isolation: isolated (any Actor)? = #isolation
    ) {
        state.change { state in
            state.integrators = state.integrators ?? OpenRuns()
            state.audible += 1
        }
        // Goes with the last handler: the integrator holds them, and each of its runs does until its end.
        let canary = Canary { [state] in state.change { $0.audible -= 1 } }
        let call =
            Self.recording(.unprepared) { [state] step in
                state.change { $0.integrators?.take(step) }
            } hear: { [state, canary] event in
                withExtendedLifetime(canary) {
                    state.change { state in
                        state.events.append(event)
                        state.integrators?.hear(event)
                    }
                }
            }
        // In one step: a call that is made meanwhile is heard from its beginning to its end, or not at all.
        integrator.addHandlers(of: call)
    }

    /// Adds handlers to a call that are written on the caller's actor.
    private static func recording(
        _ call: IntegrationCall<Output>, isolation: isolated (any Actor)? = #isolation,
        follow: @escaping @Sendable (CallStep) -> Void, hear: @escaping @Sendable (IntegrationEvent<Output>) -> Void
    ) -> IntegrationCall<Output> {
        call
            .observing(follow)
            .onBeginning { hear(.began) }
            .onProgress { hear(.progressed($0)) }
            .onRetry { attempt, error in hear(.retried(attempt: attempt, after: error)) }
            .onSuccess { hear(.succeeded($0)) }
            .onError { hear(.failed($0)) }
            .onCancel { hear(.cancelled($0)) }
            .onCompletion { hear(.completed) }
    }

    /// What has been heard so far.
    public var events: [IntegrationEvent<Output>] { state.value.events }

    // MARK: Expecting

    /// Waits for the next events, and fails unless they are these, in this order. Reports of progress that don't meet
    /// what is expected next are passed over, unless the recorder is made otherwise.
    ///
    /// It waits no longer than until an event is another one, or progress is beyond a fraction that is expected, or
    /// every call made with the recorder, one at least, has ended, and everything chained to it: then what hasn't come
    /// won't. Of an integrator that it hears another call could come for as long as somebody holds it, so it waits
    /// until that is gone as well, and its calls have ended.
    ///
    /// - Throws: `CancellationError`, if the task that waits is cancelled. It takes no event more then. If the whole
    ///   scope is cancelled, what is missing is a failure as well, so that a time limit says more than that time was
    ///   over.
    public func expect(
        _ first: EventExpectation<Output>, _ others: EventExpectation<Output>..., fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        var expected = ExpectedEvents([first] + others, passingOverProgress: passesOverProgress)
        while !expected.areMet {
            try await ledger.wait(for: state, at: place) {
                !$0.unexpected.isEmpty || $0.isOver
            } remaining: { [expected] state in
                if expected.areMet(by: state.unexpected) { return nil }
                var expected = expected
                expected.add(state.upcoming(expected.restCount))
                return expected.words
            }
            switch takeNext(for: &expected) {
            case .fits: continue
            case .isMissing:
                // Another one who waits may have taken what came.
                guard state.change({ [count = expected.restCount] in $0.missesRest(count) }) else { continue }
            case .isAnother: break
            }
            return ledger.record("\(expected.words).", at: place)
        }
    }

    /// Fails unless the next events have been heard by now, and are these, in this order: for what is to have come when
    /// something returns. It doesn't wait. If what it names comes later, the next expectation finds that first, and at
    /// the end it is no failure of its own. Reports of progress are passed over as in
    /// ``expect(_:_:fileID:filePath:line:column:)``; wait with that for the one that comes before the provider waits
    /// for the test.
    public func expectHeard(
        _ first: EventExpectation<Output>, _ others: EventExpectation<Output>..., fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        var expected = ExpectedEvents([first] + others, passingOverProgress: passesOverProgress)
        while !expected.areMet {
            switch takeNext(for: &expected) {
            case .fits: continue
            // Not taken, if it comes by now: an expectation that waits has it.
            case .isMissing: state.change { [count = expected.restCount] in $0.nameMissing(count) }
            case .isAnother: break
            }
            let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
            return ledger.record("\(expected.words).", at: place)
        }
    }

    private enum Next { case fits, isAnother, isMissing }

    /// Takes the next event for what is expected. If it is another one, takes what comes after it as well, as much as
    /// is named.
    private func takeNext(for expected: inout ExpectedEvents<Output>) -> Next {
        guard let event = state.change({ $0.takeNext() }) else { return .isMissing }
        // Asked outside of the lock: what is expected may be the user's code.
        if expected.take(event) { return .fits }
        expected.add(state.change { [count = expected.restCount - 1] in $0.takeRest(count) })
        return .isAnother
    }

    /// Fails if something has come that nobody expected, but for progress that is passed over, or if a call hasn't
    /// ended: at the line of this, or where the call was made with the recorder. If the recorder is exhaustive, also
    /// for each stub of its ``TestScope`` that wasn't used up, where that was made. Each is told once, here or at the
    /// end of the scope. After a failed expectation as many events as it named are no failure of their own. What is
    /// chained to a call isn't looked at, nor given time: what it does later hasn't come yet.
    public func verify(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        for failure in Self.leftovers(of: state, open, at: place) { ledger.record(failure) }
        if isExhaustive { ledger.checkStubs() }
    }

    /// All that is left over, looked at in one step.
    private static func leftovers(
        of watched: Watched<State>, _ open: Watched<OpenCalls>, at place: SourcePlace
    ) -> [TestFailure] {
        let recalled = recalled(in: watched)
        let (events, unended, heardCount) = watched.change { state in
            (state.takeLeftovers(), state.unended(recalled: recalled), state.integrators?.takeUntold() ?? 0)
        }
        return unexpected(events, at: place) + untold(unended, of: open) + openCalls(heardCount, at: place)
    }

    private static func unended(of watched: Watched<State>, _ open: Watched<OpenCalls>) -> [TestFailure] {
        let recalled = recalled(in: watched)
        return untold(watched.change { $0.unended(recalled: recalled) }, of: open)
    }

    private static func heardLeftovers(of watched: Watched<State>, at place: SourcePlace) -> [TestFailure] {
        let (events, heardCount) = watched.change { state in
            (state.takeLeftovers(), state.integrators?.takeUntold() ?? 0)
        }
        return unexpected(events, at: place) + openCalls(heardCount, at: place)
    }

    /// The calls of which a recall goes on. Asked before the rest is looked at: a recall that ends meanwhile has left
    /// its events there.
    private static func recalled(in watched: Watched<State>) -> Set<Int> {
        Set(watched.value.recalls.filter { $0.value() }.keys)
    }

    private static func unexpected(_ events: [IntegrationEvent<Output>], at place: SourcePlace) -> [TestFailure] {
        guard !events.isEmpty else { return [] }
        return [
            TestFailure("Expected nothing more, and \(IntegrationEvent.words(for: events).inWords) came.", at: place)
        ]
    }

    private static func untold(_ calls: Set<Int>, of open: Watched<OpenCalls>) -> [TestFailure] {
        open.change { $0.tell(calls) }.map { TestFailure("Expected the call to have ended, and it had not.", at: $0) }
    }

    private static func openCalls(_ count: Int, at place: SourcePlace) -> [TestFailure] {
        guard count > 0 else { return [] }
        return [TestFailure("Expected every call to have ended, and \(count) had not.", at: place)]
    }
}
