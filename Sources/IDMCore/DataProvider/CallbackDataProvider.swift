/// Stops a request of code that calls back. Called at most once, on any thread.
public typealias CancelHandler = @Sendable () -> Void

/// A provider for code that calls back. The async ``DataProvider/request(_:)`` is implemented for it.
///
/// ```swift
/// struct LegacyDataProvider: CallbackDataProvider {
///     func request(
///         _ id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void
///     ) -> CancelHandler? {
///         let job = client.load(id) { completion($0) }
///         return { job.stop() }
///     }
/// }
/// ```
///
/// The request ends exactly once, with the first answer. Later answers are discarded. If the completion is released
/// without being called, the request fails with ``DataProviderError/noAnswer``. A cancel calls the cancel handler once
/// and ends the request at once, also when it comes before the handler has been returned. A request of a task that is
/// already cancelled is not started.
public protocol CallbackDataProvider<Input, Output>: DataProvider {
    // Redeclared: a requirement in terms of inherited associated types keeps conforming types from inferring them.
    associatedtype Input
    associatedtype Output

    /// Starts to fetch the data for `input`.
    ///
    /// - Parameters:
    ///   - input: The value that the request is made with.
    ///   - completion: Receives the answer, on any thread, also before this method has returned.
    /// - Returns: A closure that stops the request, or nil if it can't be stopped.
    func request(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> CancelHandler?
}

extension CallbackDataProvider {
    /// Fetches the data for `input`, and waits for the completion.
    public func request(_ input: Input) async throws -> Output {
        try Task.checkCancellation()
        let (answer, cancellation) = (Mailbox<Output>(), CallbackCancellation())
        return try await LibraryTask.reactingToCancel {
            start(input, answer, cancellation)
            guard let output = try await answer.next(isolation: #isolation) else { throw DataProviderError.noAnswer }
            return output
        } onCancel: {
            if !answer.hasEnded { answer.abandon { cancellation.cancel() } }
        }
    }

    /// Starts the request. A function of its own, so that nothing but the provider holds the completion afterwards.
    private func start(_ input: Input, _ answer: Mailbox<Output>, _ cancellation: CallbackCancellation) {
        guard !answer.hasEnded else { return }
        let completion = CallbackCompletion(answer)
        cancellation.store(request(input) { completion.finish(with: $0) })
    }
}

/// Sends the first answer. Fails the request with ``DataProviderError/noAnswer`` if it is released without one.
private final class CallbackCompletion<Output: Sendable>: Sendable {
    private let answer: Mailbox<Output>

    init(_ answer: Mailbox<Output>) { self.answer = answer }

    deinit { finish(with: .failure(DataProviderError.noAnswer)) }

    func finish(with result: Result<Output, any Error>) {
        switch result {
        case .success(let output):
            answer.send(output)
            answer.end(.finished)
        case .failure(let error): answer.end(.failed(error))
        }
    }
}

/// Calls the cancel handler of a request once, also if the cancel comes before the handler has been returned.
private final class CallbackCancellation: Sendable {
    private enum State {
        case running(CancelHandler?)
        case cancelled
    }

    private let state = Locked(State.running(nil))

    func store(_ handler: CancelHandler?) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(handler)
            return false
        }
        if isCancelled { handler?() }
    }

    func cancel() {
        let handler: CancelHandler? = state.withLock { state in
            defer { state = .cancelled }
            if case .running(let handler) = state { return handler }
            return nil
        }
        handler?()
    }
}
