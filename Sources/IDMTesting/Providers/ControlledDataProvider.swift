public import IDMCore

/// A provider whose requests wait until the test ends them.
///
/// ```swift
/// let provider = ControlledDataProvider<String, [String]>()
/// let task = Integrator(provider).prepareCall("apple").call()
/// try await provider.nextRequest().answer(["Ada"])
/// let names = try await task.value
/// ```
///
/// A request ends when the test answers, fails or drops it, or when its task is cancelled, whichever comes first. With
/// ``init(hearsCancel:)`` it can be made to wait for the test also after a cancel, as a provider does that ignores its
/// cancellation.
public final class ControlledDataProvider<Input: Sendable, Output: Sendable>: DataProvider {
    private let desk = RequestDesk<ControlledRequest<Input, Output>>()
    private let hearsCancel: Bool

    /// Makes a provider that nobody has asked yet.
    ///
    /// - Parameter hearsCancel: Whether a cancel ends a request. If not, it goes on waiting for the test.
    public init(hearsCancel: Bool = true) {
        self.hearsCancel = hearsCancel
    }

    /// A controlled provider, by what it takes and gives.
    public var structure: ProviderStructure { .provider("controlled: \(Input.self) → \(Output.self)") }

    /// How many requests have been made.
    public var requestCount: Int { desk.requests.count }

    /// The requests, in the order in which they were made.
    public var requests: [ControlledRequest<Input, Output>] { desk.requests }

    /// Waits for the earliest request that the test hasn't got yet. Throws `CancellationError` if the task that waits
    /// is cancelled, as a time limit does.
    public func nextRequest(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> ControlledRequest<Input, Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await desk.next(at: place)
    }

    /// Waits for the test.
    public func request(_ input: Input) async throws -> Output {
        let request = ControlledRequest<Input, Output>(input: input, hearsCancel: hearsCancel, ledger: desk.ledger)
        desk.add(request)
        return try await request.result()
    }
}

/// One request of a ``ControlledDataProvider``. Good on any thread.
public final class ControlledRequest<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        var result: Result<Output, any Error>?
        var isCancelled = false
        var isOver = false
        /// Those that are to answer later.
        var timers: [Task<Void, Never>] = []
    }

    /// What the request was made with.
    public let input: Input
    /// What the request found as the ambient reporter. The test may report with it.
    public let reporter = IntegrationProgress.current
    /// What the request found as the ambient pause control.
    public let pauseControl = PauseControl.current
    private let state = Watched(State())
    private let hearsCancel: Bool
    private let ledger: FailureLedger

    fileprivate init(input: Input, hearsCancel: Bool, ledger: FailureLedger) {
        self.input = input
        self.hearsCancel = hearsCancel
        self.ledger = ledger
    }

    // MARK: What the test does

    /// Ends the request with a value. Only the first end counts.
    public func answer(_ output: Output) { end(.success(output)) }

    /// Ends the request with nothing.
    public func answer() where Output == Void { answer(()) }

    /// Ends the request with an error. Only the first end counts.
    public func fail(_ error: any Error) { end(.failure(error)) }

    /// Ends the request as a provider does that lost its answer: with `DataProviderError.noAnswer`.
    public func drop() { fail(DataProviderError.noAnswer) }

    /// Ends the request with a value after some time, counted from now. Returns at once. If the request has ended by
    /// then, nothing is waited for.
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

    // MARK: What the test sees

    /// Whether the request's task has been cancelled.
    public var isCancelled: Bool { state.value.isCancelled }

    /// Whether the request has returned or thrown.
    public var isOver: Bool { state.value.isOver }

    /// Waits until the request's task is cancelled. A request that ends without that is a failure, and isn't waited for
    /// any more. Throws `CancellationError` if the task that waits is cancelled.
    public func cancelled(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.waitForCancel(in: state, at: place, isCancelled: \.isCancelled, isOver: \.isOver)
    }

    /// Waits until the request has returned or thrown. Throws `CancellationError` if the task that waits is cancelled.
    public func ended(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.waitForEnd(in: state, at: place, isOver: \.isOver)
    }

    private func end(_ result: Result<Output, any Error>) {
        state.change { state in
            if state.result == nil && !state.isOver { state.result = result }
        }
    }

    /// Lets go of the answer: the test has the request for as long as it likes.
    private func finish() {
        // The answer is let go outside of the lock.
        let (timers, _) = state.change { state in
            state.isOver = true
            defer { (state.timers, state.result) = ([], nil) }
            return (state.timers, state.result)
        }
        for timer in timers { timer.cancel() }
    }

    fileprivate func result() async throws -> Output {
        defer { finish() }
        let hearsCancel = hearsCancel
        try await LibraryTask.hearingCancel {
            try await state.wait(deaf: true) { $0.result != nil }
        } onCancel: {
            state.change { state in
                state.isCancelled = true
                // An end like others: an answer that comes later is none, however soon the request goes on.
                if hearsCancel && state.result == nil { state.result = .failure(CancellationError()) }
            }
        }
        guard let result = state.value.result else { throw CancellationError() }
        return try result.get()
    }
}
