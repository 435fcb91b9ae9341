/// Stops a request that has been handed to code that calls back. Called at most once, on any thread.
public typealias CancelHandler = @Sendable () -> Void

/// A provider for code that still calls back. Conforming gives ``DataProvider/request(_:)`` for free.
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
/// Whatever the code behind does, the request ends exactly once. The first answer is the one that is heard. A
/// completion that is let go without being called fails the request with ``DataProviderError/noAnswer``. Cancelling
/// calls the cancel handler once and ends the request at once, also when the cancel comes before the handler has been
/// returned. A request whose task is already cancelled is never made.
public protocol CallbackDataProvider<Input, Output>: DataProvider {
    // Redeclared: a requirement in terms of inherited associated types keeps conforming types from inferring them.
    associatedtype Input
    associatedtype Output

    /// Starts to fetch the data for an input, and returns how to stop.
    ///
    /// - Parameters:
    ///   - input: What the request is made with.
    ///   - completion: Takes the answer, on any thread, also before this method has returned.
    /// - Returns: What stops the request, or nil if it can't be stopped.
    func request(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> CancelHandler?
}

extension CallbackDataProvider {
    /// Makes the request and waits for its first answer.
    public func request(_ input: Input) async throws -> Output {
        try Task.checkCancellation()
        let pending = CallbackContinuation<Output>()
        return try await LibraryTask.hearingCancel {
            try await LibraryTask.waitThrowing { continuation in
                guard pending.wait(continuation) else { return }
                let completion = CallbackCompletion(pending)
                pending.hold(request(input) { completion.answer($0) })
            }
        } onCancel: {
            pending.cancel()
        }
    }
}

/// Asks the continuation for ``DataProviderError/noAnswer`` when the completion that holds it is let go.
private final class CallbackCompletion<Output: Sendable>: Sendable {
    private let continuation: CallbackContinuation<Output>

    init(_ continuation: CallbackContinuation<Output>) {
        self.continuation = continuation
    }

    func answer(_ result: Result<Output, any Error>) {
        continuation.answer(result)
    }

    deinit {
        continuation.answer(.failure(DataProviderError.noAnswer))
    }
}
