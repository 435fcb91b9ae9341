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
/// expected and calls that haven't ended are failures.
public final class IntegrationRecorder<Output: Sendable>: Sendable {
    private struct State {
        var events: [IntegrationEvent<Output>] = []
        var expectedCount = 0
        /// Calls made with the recorder, and those of them that have ended.
        var made = 0
        var ended = 0
        /// Calls of integrators that have begun, and haven't completed.
        var running = 0
        var hearsIntegrators = false

        /// Whether no event can come any more.
        var isOver: Bool { made > 0 && made == ended && !hearsIntegrators }
        var unendedCount: Int { hearsIntegrators ? running : made - ended }
        var unexpected: ArraySlice<IntegrationEvent<Output>> { events.dropFirst(expectedCount) }
    }

    private let state = Watched(State())
    private let place: SourcePlace
    private let ledger: FailureLedger

    /// Makes a recorder that hears nothing yet.
    ///
    /// - Parameters:
    ///   - isExhaustive: Whether what nobody expected is a failure at the end of the ``TestScope``.
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
        guard isExhaustive else { return }
        ledger.atEnd { [state, place] in Self.leftovers(of: state.value, at: place) }
    }

    // MARK: Recording

    /// Records a call, and makes it.
    ///
    /// - Parameters:
    ///   - call: The call. Its own handlers run before the recorder's.
    ///   - isolation: The caller's actor. Leave it out.
    @discardableResult
    public func call(
        _ call: IntegrationCall<Output>, isolation: isolated (any Actor)? = #isolation
    ) -> IntegrationTask<Output> {
        state.change { $0.made += 1 }
        let state = state
        let task =
            call
            .onBeginning { state.change { $0.events.append(.began) } }
            .onProgress { progress in state.change { $0.events.append(.progressed(progress)) } }
            .onRetry { attempt, error in state.change { $0.events.append(.retried(attempt: attempt, after: error)) } }
            .onSuccess { value in state.change { $0.events.append(.succeeded(value)) } }
            .onError { error in state.change { $0.events.append(.failed(error)) } }
            .onCancel { reason in state.change { $0.events.append(.cancelled(reason)) } }
            .onCompletion { state.change { $0.events.append(.completed) } }
            .call(isolation: isolation)
        task.whenFinished { state.change { $0.ended += 1 } }
        return task
    }

    /// Records every call that is made with an integrator from now on.
    ///
    /// - Parameters:
    ///   - integrator: The integrator. It keeps the recorder's handlers.
    ///   - isolation: The actor that the handlers are to run on. Leave it out for the caller's.
    public func hear<Input>(
        _ integrator: Integrator<Input, Output>, isolation: isolated (any Actor)? = #isolation
    ) {
        state.change { $0.hearsIntegrators = true }
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
    /// It waits no longer once every call made with the recorder has ended: then what hasn't come won't.
    ///
    /// - Throws: `CancellationError`, if the task that waits is cancelled.
    public func expect(
        _ expected: EventExpectation<Output>..., fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let count = expected.count
        try await state.wait { $0.unexpected.count >= count || $0.isOver }
        let came = state.change { state in
            let came = Array(state.unexpected.prefix(count))
            state.expectedCount += came.count
            return came
        }
        let isMet = came.count == count && zip(expected, came).allSatisfy { $0.isMet($1) }
        guard !isMet else { return }
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        ledger.record(
            "Expected \(expected.map(\.description).inWords), and \(came.map(\.words).inWords) came.", at: place)
    }

    /// Fails if something has come that nobody expected, or if a call hasn't ended.
    public func verify(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        for failure in Self.leftovers(of: state.value, at: place) { ledger.record(failure) }
    }

    private static func leftovers(of state: State, at place: SourcePlace) -> [TestFailure] {
        var failures: [TestFailure] = []
        if !state.unexpected.isEmpty {
            failures.append(
                TestFailure("Expected nothing more, and \(state.unexpected.map(\.words).inWords) came.", at: place))
        }
        if state.unendedCount > 0 {
            failures.append(
                TestFailure("Expected every call to have ended, and \(state.unendedCount) had not.", at: place))
        }
        return failures
    }
}

extension [String] {
    /// The elements in a row, or that there are none.
    fileprivate var inWords: String { isEmpty ? "nothing" : joined(separator: ", ") }
}
