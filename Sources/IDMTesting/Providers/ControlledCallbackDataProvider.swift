public import IDMCore

/// A provider that calls back when the test decides: twice, late, from any thread, or never.
///
/// ```swift
/// let provider = ControlledCallbackDataProvider<Int, String>()
/// let task = Integrator(provider).prepareCall(1).call()
/// let request = try await provider.waitForRequest()
/// request.answer("first")
/// request.answer("twice")
/// #expect(try await task.value == "first")
/// ```
public final class ControlledCallbackDataProvider<Input: Sendable, Output: Sendable>: CallbackDataProvider {
    private let inbox = RequestInbox<ControlledCallbackRequest<Input, Output>> { "\($0.input)" }
    private let hasCancelHandler: Bool

    /// Makes a provider without requests, whose requests return a cancel handler or nil.
    public init(
        hasCancelHandler: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.hasCancelHandler = hasCancelHandler
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        inbox.reportUnanswered(at: place) { $0.isAnsweredOrCancelled }
    }

    /// A controlled provider that calls back, by what it takes and gives.
    public var structure: ProviderStructure { .provider("controlled callbacks: \(Input.self) → \(Output.self)") }

    /// The number of requests.
    public var requestCount: Int { inbox.requests.count }

    /// The requests in the order in which they were made.
    public var requests: [ControlledCallbackRequest<Input, Output>] { inbox.requests }

    /// Waits for the earliest request that the test hasn't been given yet.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws -> ControlledCallbackRequest<Input, Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit)
    }

    /// Waits for a request with an input, and passes over all others: they are left for other waits.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        _ input: Input, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> ControlledCallbackRequest<Input, Output> where Input: Equatable {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit, input: "\(input)") { $0.input == input }
    }

    /// Suspends until the test answers.
    public func request(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> CancelHandler? {
        let request = ControlledCallbackRequest(input: input, completion: completion, collector: inbox.collector)
        inbox.add(request)
        guard hasCancelHandler else { return nil }
        return { request.cancel() }
    }
}

/// One request of a ``ControlledCallbackDataProvider``. Safe on any thread.
public final class ControlledCallbackRequest<Input: Sendable, Output: Sendable>: Sendable {
    private typealias Completion = @Sendable (Result<Output, any Error>) -> Void

    private struct State {
        var completion: Completion?
        var cancelCount = 0
        /// True if it has called back, or has released its completion.
        var isOver = false
    }

    /// The input of the request.
    public let input: Input
    /// The progress reporter of the request's caller.
    public let reporter = IntegrationProgress.current
    /// The pause control of the request's caller.
    public let pauseControl = PauseControl.current
    private let state: Observed<State>
    private let collector: FailureCollector

    fileprivate init(
        input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void, collector: FailureCollector
    ) {
        self.input = input
        self.collector = collector
        state = Observed(State(completion: completion))
    }

    // MARK: Answering

    /// Calls back on the caller's thread, each time that it is called.
    public func complete(_ result: Result<Output, any Error>) {
        LibraryTask.noteActivity()
        state.value.completion?(result)
        state.change { $0.isOver = true }
    }

    /// Calls back with a value.
    public func answer(_ output: Output) { complete(.success(output)) }

    /// Calls back with an error.
    public func fail(_ error: any Error) { complete(.failure(error)) }

    /// Releases the completion without calling it. Later answers are ignored.
    public func drop() {
        // Released outside of the lock.
        _ = state.change { state -> Completion? in
            state.isOver = true
            defer { state.completion = nil }
            return state.completion
        }
    }

    // MARK: Observing

    /// The number of calls of the cancel handler.
    public var cancelCount: Int { state.value.cancelCount }

    fileprivate var isAnsweredOrCancelled: Bool {
        let state = state.value
        return state.isOver || state.cancelCount > 0
    }

    /// Waits until the cancel handler is called. It is a failure if the request calls back or is dropped before that.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitUntilCancelled(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.waitForCancel(
            of: state, at: place, within: limit, isCancelled: { $0.cancelCount > 0 }, isOver: \.isOver)
    }

    fileprivate func cancel() {
        state.change { $0.cancelCount += 1 }
    }
}
