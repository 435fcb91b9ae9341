public import IDMCore

/// A provider that calls back when the test says so: twice, late, from any thread, or never.
///
/// ```swift
/// let provider = ControlledCallbackDataProvider<Int, String>()
/// let task = Integrator(provider).prepareCall(1).call()
/// let request = try await provider.nextRequest()
/// request.answer("first")
/// request.answer("twice")
/// #expect(try await task.value == "first")
/// ```
public final class ControlledCallbackDataProvider<Input: Sendable, Output: Sendable>: CallbackDataProvider {
    private let desk = RequestDesk<ControlledCallbackRequest<Input, Output>>()
    private let hasCancelHandler: Bool

    /// Makes a provider that nobody has asked yet.
    ///
    /// - Parameter hasCancelHandler: Whether its requests can be stopped.
    public init(hasCancelHandler: Bool = true) {
        self.hasCancelHandler = hasCancelHandler
    }

    /// A controlled provider that calls back, by what it takes and gives.
    public var structure: ProviderStructure { .provider("controlled callbacks: \(Input.self) → \(Output.self)") }

    /// How many requests have been made.
    public var requestCount: Int { desk.requests.count }

    /// The requests, in the order in which they were made.
    public var requests: [ControlledCallbackRequest<Input, Output>] { desk.requests }

    /// Waits for the earliest request that the test hasn't got yet. Throws `CancellationError` if the task that waits
    /// is cancelled.
    public func nextRequest(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> ControlledCallbackRequest<Input, Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await desk.next(at: place)
    }

    /// Waits for the test.
    public func request(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> CancelHandler? {
        let request = ControlledCallbackRequest(input: input, completion: completion, ledger: desk.ledger)
        desk.add(request)
        guard hasCancelHandler else { return nil }
        return { request.cancel() }
    }
}

/// One request of a ``ControlledCallbackDataProvider``. Good on any thread.
public final class ControlledCallbackRequest<Input: Sendable, Output: Sendable>: Sendable {
    private typealias Completion = @Sendable (Result<Output, any Error>) -> Void

    private struct State {
        var completion: Completion?
        var cancelCount = 0
        /// Whether it has called back, or can't any more.
        var isOver = false
    }

    /// What the request was made with.
    public let input: Input
    /// What the request found as the ambient reporter.
    public let reporter = IntegrationProgress.current
    /// What the request found as the ambient pause control.
    public let pauseControl = PauseControl.current
    private let state: Watched<State>
    private let ledger: FailureLedger

    fileprivate init(
        input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void, ledger: FailureLedger
    ) {
        self.input = input
        self.ledger = ledger
        state = Watched(State(completion: completion))
    }

    // MARK: What the test does

    /// Calls back, from here. As often as this is called: whether the second answer is heard is for the library to
    /// know.
    public func complete(_ result: Result<Output, any Error>) {
        LibraryTask.stir()
        state.value.completion?(result)
        state.change { $0.isOver = true }
    }

    /// Calls back with a value.
    public func answer(_ output: Output) { complete(.success(output)) }

    /// Calls back with an error.
    public func fail(_ error: any Error) { complete(.failure(error)) }

    /// Lets the completion go without calling it, if nobody else holds it. From then on nothing is called any more.
    public func drop() {
        // Taken out first: it is to be let go outside of the lock.
        _ = state.change { state -> Completion? in
            state.isOver = true
            defer { state.completion = nil }
            return state.completion
        }
    }

    // MARK: What the test sees

    /// How often the cancel handler has been called.
    public var cancelCount: Int { state.value.cancelCount }

    /// Waits until the cancel handler has been called. A request that has called back or was dropped without that is a
    /// failure, and isn't waited for any more. Throws `CancellationError` if the task that waits is cancelled.
    public func cancelled(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.waitForCancel(in: state, at: place, isCancelled: { $0.cancelCount > 0 }, isOver: \.isOver)
    }

    fileprivate func cancel() {
        state.change { $0.cancelCount += 1 }
    }
}
