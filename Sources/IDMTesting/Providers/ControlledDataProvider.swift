public import IDMCore

/// A provider whose requests wait until the test answers them.
///
/// ```swift
/// let provider = ControlledDataProvider<String, [String]>()
/// let task = Integrator(provider).prepareCall("apple").call()
/// try await provider.waitForRequest().answer(["Ada"])
/// let names = try await task.value
/// ```
///
/// A request ends when the test answers, fails or drops it, or when its task is cancelled, whichever is first. With
/// `reactsToCancel: false` a cancelled request waits for the test as well, as a provider does that ignores its cancel. A
/// request that is neither answered nor cancelled at the end of the ``TestScope`` is a failure.
public final class ControlledDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    private let inbox = RequestInbox<ControlledRequest<Input, Output>> { "\($0.input)" }
    private let reactsToCancel: Bool

    /// Makes a provider without requests. Unless it reacts to cancels, a cancelled request waits for the test too.
    public init(
        reactsToCancel: Bool = true, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        self.reactsToCancel = reactsToCancel
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        inbox.reportUnanswered(at: place) { $0.isOver || $0.isCancelled }
    }

    /// A controlled provider, by what it takes and gives.
    public var structure: ProviderStructure { .provider("controlled: \(Input.self) → \(Output.self)") }

    /// The number of requests.
    public var requestCount: Int { inbox.requests.count }

    /// The requests in the order in which they were made.
    public var requests: [ControlledRequest<Input, Output>] { inbox.requests }

    /// Waits for the earliest request that the test hasn't been given yet.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws -> ControlledRequest<Input, Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit)
    }

    /// Waits for a request with an input, and passes over all others: they are left for other waits.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        _ input: Input, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> ControlledRequest<Input, Output> where Input: Equatable {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit, input: "\(input)") { $0.input == input }
    }

    /// Suspends until the test answers.
    public func request(_ input: Input) async throws -> Output {
        let request = ControlledRequest<Input, Output>(
            input: input, reactsToCancel: reactsToCancel, collector: inbox.collector)
        inbox.add(request)
        return try await request.result()
    }
}

/// One request of a ``ControlledDataProvider``. Safe on any thread.
public final class ControlledRequest<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        var result: Result<Output, any Error>?
        var isCancelled = false
        var isOver = false
        /// Tasks that answer later.
        var timers: [Task<Void, Never>] = []
    }

    /// The input of the request.
    public let input: Input
    /// The progress reporter of the request's caller. The test may report with it.
    public let reporter = IntegrationProgress.current
    /// The pause control of the request's caller.
    public let pauseControl = PauseControl.current
    private let state = Observed(State())
    private let reactsToCancel: Bool
    private let collector: FailureCollector

    fileprivate init(input: Input, reactsToCancel: Bool, collector: FailureCollector) {
        self.input = input
        self.reactsToCancel = reactsToCancel
        self.collector = collector
    }

    // MARK: Answering

    /// Ends the request with a value. Only the first end counts.
    public func answer(_ output: Output) { end(.success(output)) }

    /// Ends the request with nothing.
    public func answer() where Output == Void { answer(()) }

    /// Ends the request with an error. Only the first end counts.
    public func fail(_ error: any Error) { end(.failure(error)) }

    /// Ends the request with `DataProviderError.noAnswer`, as a provider does that loses its answer.
    public func drop() { fail(DataProviderError.noAnswer) }

    /// Ends the request with a value after a duration. Returns at once.
    public func answer(_ output: Output, after duration: Duration, on clock: some Clock<Duration>) {
        let alarm = clock.alarm(after: duration)
        let timer = LibraryTask.startAtOnce(clock: clock, isolation: nil) { _ in
            guard (try? await alarm()) != nil else { return }
            self.answer(output)
        }
        let isOver = state.change { state in
            if !state.isOver { state.timers.append(timer) }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    // MARK: Observing

    /// True if the request's task has been cancelled.
    public var isCancelled: Bool { state.value.isCancelled }

    /// True if the request has returned or thrown.
    public var isOver: Bool { state.value.isOver }

    /// Waits until the request's task is cancelled. It is a failure if the request ends without a cancel.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitUntilCancelled(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.waitForCancel(
            of: state, at: place, within: limit, isCancelled: \.isCancelled, isOver: \.isOver)
    }

    /// Waits until the request has returned or thrown.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitUntilEnded(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.waitForEnd(of: state, at: place, within: limit, isOver: \.isOver)
    }

    private func end(_ result: Result<Output, any Error>) {
        state.change { state in
            if state.result == nil && !state.isOver { state.result = result }
        }
    }

    /// Releases the answer: the test may keep the request.
    private func finish() {
        // The answer is released outside of the lock.
        let (timers, _) = state.change { state in
            state.isOver = true
            defer { (state.timers, state.result) = ([], nil) }
            return (state.timers, state.result)
        }
        for timer in timers { timer.cancel() }
    }

    fileprivate func result() async throws -> Output {
        defer { finish() }
        let reactsToCancel = reactsToCancel
        try await LibraryTask.reactingToCancel {
            try await state.wait(ignoringCancel: true) { $0.result != nil }
        } onCancel: {
            state.change { state in
                state.isCancelled = true
                // The first end counts, also if the test answers before the request resumes.
                if reactsToCancel && state.result == nil { state.result = .failure(CancellationError()) }
            }
        }
        guard let result = state.value.result else { throw CancellationError() }
        return try result.get()
    }
}
