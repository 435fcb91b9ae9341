public import IDMCore

/// A stream of values that the test sends.
///
/// ```swift
/// let stream = ControlledStreamDataProvider<String, Int>()
/// let task = Integrator(stream).prepareCall("counter").onSuccess { count in print(count) }.call()
/// let request = try await stream.waitForRequest()
/// request.send(1)
/// request.send(2)
/// request.finish()
/// #expect(try await task.value == 2)
/// ```
///
/// A request begins when its first value is asked for. It ends when the test ends it, when its task is cancelled while
/// it waits for a value (unless the provider was made with `reactsToCancel: false`), or when its iterator is released.
/// Values that were sent before the end are still delivered. A request that is neither ended nor cancelled at the end of
/// the ``TestScope`` is a failure.
public final class ControlledStreamDataProvider<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let inbox = RequestInbox<ControlledStreamRequest<Input, Output>> { "\($0.input)" }
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

    /// A controlled stream, by what it takes and gives.
    public var structure: ProviderStructure { .provider("controlled stream: \(Input.self) → \(Output.self)") }

    /// The number of requests: sequences whose first value was asked for.
    public var requestCount: Int { inbox.requests.count }

    /// The requests in the order in which they were made.
    public var requests: [ControlledStreamRequest<Input, Output>] { inbox.requests }

    /// Waits for the earliest request that the test hasn't been given yet.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws -> ControlledStreamRequest<Input, Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit)
    }

    /// Waits for a request with an input, and passes over all others: they are left for other waits.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitForRequest(
        _ input: Input, within limit: Duration? = nil, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> ControlledStreamRequest<Input, Output> where Input: Equatable {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await inbox.next(at: place, within: limit, input: "\(input)") { $0.input == input }
    }

    /// The values that the test sends.
    public func values(for input: Input) -> Values {
        Values { [inbox, reactsToCancel] in
            let request = ControlledStreamRequest<Input, Output>(
                input: input, reactsToCancel: reactsToCancel, collector: inbox.collector)
            inbox.add(request)
            return request
        }
    }

    /// The values of one request.
    public struct Values: AsyncSequence, Sendable {
        fileprivate let begin: @Sendable () -> ControlledStreamRequest<Input, Output>

        /// Makes an iterator. The request begins with its first value.
        public func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

        /// Iterates over the values of one request.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let begin: @Sendable () -> ControlledStreamRequest<Input, Output>
            private var listener: Listener?

            fileprivate init(begin: @escaping @Sendable () -> ControlledStreamRequest<Input, Output>) {
                self.begin = begin
            }

            /// Returns the next value that the test sends, or nil after the end.
            public mutating func next() async throws -> Output? {
                try await next(isolation: #isolation)
            }

            /// Returns the next value that the test sends, or nil after the end.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Output? {
                let listener = listener ?? Listener(begin())
                self.listener = listener
                return try await listener.request.next()
            }
        }
    }

    /// Ends a request when its iterator is released: the request itself is kept for the test.
    fileprivate final class Listener: Sendable {
        let request: ControlledStreamRequest<Input, Output>

        init(_ request: ControlledStreamRequest<Input, Output>) {
            self.request = request
        }

        deinit { request.leave() }
    }
}

/// One request of a ``ControlledStreamDataProvider``. Safe on any thread.
public final class ControlledStreamRequest<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        /// The number of values in the backlog.
        var count = 0
        var end: Result<Void, any Error>?
        var isCancelled = false
        var isOver = false
        /// True if its iterator was released before the end was delivered.
        var isLeft = false
    }

    /// The input of the request.
    public let input: Input
    /// The progress reporter of the caller at the first value.
    public let reporter = IntegrationProgress.current
    /// The pause control of the caller at the first value.
    public let pauseControl = PauseControl.current
    private let state = Observed(State())
    /// The values, changed with the state but outside of it: each wait copies the state.
    private let backlog = Locked(Backlog<Output>())
    private let reactsToCancel: Bool
    private let collector: FailureCollector

    fileprivate init(input: Input, reactsToCancel: Bool, collector: FailureCollector) {
        self.input = input
        self.reactsToCancel = reactsToCancel
        self.collector = collector
    }

    // MARK: Answering

    /// Sends a value. After the end the value is dropped.
    public func send(_ value: Output) {
        state.change { state in
            guard state.end == nil else { return }
            state.count += 1
            backlog.withLock { $0.append(value) }
        }
    }

    /// Ends the stream, after the values sent so far. Only the first end counts.
    public func finish() { end(.success(())) }

    /// Ends the stream with an error, after the values sent so far. Only the first end counts.
    public func fail(_ error: any Error) { end(.failure(error)) }

    // MARK: Observing

    /// True if the task of the stream has been cancelled. A cancel between two values is seen when the next value is asked
    /// for.
    public var isCancelled: Bool { state.value.isCancelled }

    /// True if the stream has delivered its end, or its iterator is released.
    public var isOver: Bool { state.value.isOver }

    /// Waits until the task of the stream is cancelled, or until its iterator is released, which is all that shows a cancel
    /// between two values. It is a failure if the stream delivers its end before that.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitUntilCancelled(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.waitForCancel(
            of: state, at: place, within: limit, isCancelled: { $0.isCancelled || $0.isLeft }, isOver: \.isOver)
    }

    /// Waits until the stream has delivered its end, or its iterator is released.
    ///
    /// - Throws: The recorded ``TestFailure``, when the limit is reached; `CancellationError`, if the task is cancelled.
    public func waitUntilEnded(
        within limit: Duration? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await collector.waitForEnd(of: state, at: place, within: limit, isOver: \.isOver)
    }

    private func end(_ result: Result<Void, any Error>) {
        state.change { state in
            if state.end == nil { state.end = result }
        }
    }

    fileprivate func leave() {
        state.change { state in
            state.isLeft = !state.isOver
            state.isOver = true
            if state.end == nil { state.end = .success(()) }
            state.count = 0
        }
        // Values that were never delivered are released outside of the lock.
        _ = backlog.withLock { backlog in
            defer { backlog = Backlog() }
            return backlog
        }
    }

    fileprivate func next() async throws -> Output? {
        let reactsToCancel = reactsToCancel
        try await LibraryTask.reactingToCancel {
            try await state.wait(ignoringCancel: true) { $0.count > 0 || $0.end != nil }
        } onCancel: {
            state.change { state in
                state.isCancelled = true
                if reactsToCancel && state.end == nil { state.end = .failure(CancellationError()) }
            }
        }
        return try state.change { state -> Result<Output?, any Error> in
            if state.count > 0 {
                state.count -= 1
                return .success(backlog.withLock { $0.popFirst() })
            }
            state.isOver = true
            switch state.end {
            case .success: return .success(nil)
            case .failure(let error): return .failure(error)
            case nil: return .failure(CancellationError())
            }
        }.get()
    }
}
