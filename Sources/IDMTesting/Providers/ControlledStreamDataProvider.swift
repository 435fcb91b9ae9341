public import IDMCore

/// A stream whose values come when the test sends them.
///
/// ```swift
/// let stream = ControlledStreamDataProvider<String, Int>()
/// let task = Integrator(stream).prepareCall("counter").onSuccess { count in print(count) }.call()
/// let request = try await stream.nextRequest()
/// request.send(1)
/// request.send(2)
/// request.finish()
/// #expect(try await task.value == 2)
/// ```
///
/// A request begins with the first value that is asked for. It ends when the test ends it, or when its task is
/// cancelled while it waits for a value, whichever comes first; with ``init(hearsCancel:)`` a cancel ends nothing. What
/// has been sent before the end is still delivered. It also ends when nobody listens to it any more.
public final class ControlledStreamDataProvider<Input: Sendable, Output: Sendable>: StreamDataProvider {
    private let desk = RequestDesk<ControlledStreamRequest<Input, Output>>()
    private let hearsCancel: Bool

    /// Makes a stream that nobody has asked yet.
    ///
    /// - Parameter hearsCancel: Whether a cancel ends a request. If not, it goes on waiting for the test.
    public init(hearsCancel: Bool = true) {
        self.hearsCancel = hearsCancel
    }

    /// A controlled stream, by what it takes and gives.
    public var structure: ProviderStructure { .provider("controlled stream: \(Input.self) → \(Output.self)") }

    /// How many requests have been made: sequences that have been asked for their first value.
    public var requestCount: Int { desk.requests.count }

    /// The requests, in the order in which they were made.
    public var requests: [ControlledStreamRequest<Input, Output>] { desk.requests }

    /// Waits for the earliest request that the test hasn't got yet. Throws `CancellationError` if the task that waits
    /// is cancelled.
    public func nextRequest(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws -> ControlledStreamRequest<Input, Output> {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        return try await desk.next(at: place)
    }

    /// The values that the test will send.
    public func values(for input: Input) -> Values {
        Values { [desk, hearsCancel] in
            let request = ControlledStreamRequest<Input, Output>(
                input: input, hearsCancel: hearsCancel, ledger: desk.ledger)
            desk.add(request)
            return request
        }
    }

    /// The values of one request.
    public struct Values: AsyncSequence, Sendable {
        fileprivate let begin: @Sendable () -> ControlledStreamRequest<Input, Output>

        /// Begins with the first value that is asked for.
        public func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

        /// Walks through the values of one request.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let begin: @Sendable () -> ControlledStreamRequest<Input, Output>
            private var listener: Listener?

            fileprivate init(begin: @escaping @Sendable () -> ControlledStreamRequest<Input, Output>) {
                self.begin = begin
            }

            /// The next value once the test has sent it, or nil after the last.
            public mutating func next() async throws -> Output? {
                try await next(isolation: #isolation)
            }

            /// The next value once the test has sent it, or nil after the last.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Output? {
                let listener = listener ?? Listener(begin())
                self.listener = listener
                return try await listener.request.next()
            }
        }
    }

    /// Tells when nobody listens to a request any more: the request itself is held for the test.
    fileprivate final class Listener: Sendable {
        let request: ControlledStreamRequest<Input, Output>

        init(_ request: ControlledStreamRequest<Input, Output>) {
            self.request = request
        }

        deinit { request.leave() }
    }
}

/// One request of a ``ControlledStreamDataProvider``. Good on any thread.
public final class ControlledStreamRequest<Input: Sendable, Output: Sendable>: Sendable {
    private struct State {
        /// How many values are there.
        var count = 0
        var end: Result<Void, any Error>?
        var isCancelled = false
        var isOver = false
        /// Whether it was over before its end was told.
        var isLeft = false
    }

    /// What the request was made with.
    public let input: Input
    /// What the stream found as the ambient reporter at its first value.
    public let reporter = IntegrationProgress.current
    /// What the stream found as the ambient pause control at its first value.
    public let pauseControl = PauseControl.current
    private let state = Watched(State())
    /// The values. Beside the state, and changed with it: whoever waits for that has a copy, and thousands of values
    /// would be copied as well.
    private let backlog = Locked(Backlog<Output>())
    private let hearsCancel: Bool
    private let ledger: FailureLedger

    fileprivate init(input: Input, hearsCancel: Bool, ledger: FailureLedger) {
        self.input = input
        self.hearsCancel = hearsCancel
        self.ledger = ledger
    }

    // MARK: What the test does

    /// Sends one more value. After the end it is dropped.
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

    // MARK: What the test sees

    /// Whether the task that waits for a value has been cancelled. A cancel that comes between two values is heard with
    /// the next one that is asked for.
    public var isCancelled: Bool { state.value.isCancelled }

    /// Whether the stream has told its end to whoever listens, or nobody listens any more.
    public var isOver: Bool { state.value.isOver }

    /// Waits until the task that waits for a value is cancelled, or until nobody listens any more: all that is seen of
    /// a cancel between two values. A stream that tells its end without that is a failure, and isn't waited for any
    /// more. Throws `CancellationError` if the task that waits here is cancelled.
    public func cancelled(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.waitForCancel(
            in: state, at: place, isCancelled: { $0.isCancelled || $0.isLeft }, isOver: \.isOver)
    }

    /// Waits until the stream has told its end to whoever listens, or nobody listens any more. Throws
    /// `CancellationError` if the task that waits is cancelled.
    public func ended(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        try await ledger.waitForEnd(in: state, at: place, isOver: \.isOver)
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
        // What nobody has taken. Let go outside of the lock.
        _ = backlog.withLock { backlog in
            defer { backlog = Backlog() }
            return backlog
        }
    }

    fileprivate func next() async throws -> Output? {
        let hearsCancel = hearsCancel
        try await LibraryTask.hearingCancel {
            try await state.wait(deaf: true) { $0.count > 0 || $0.end != nil }
        } onCancel: {
            state.change { state in
                state.isCancelled = true
                if hearsCancel && state.end == nil { state.end = .failure(CancellationError()) }
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
