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
    /// Makes the request and returns its first answer.
    public func request(_ input: Input) async throws -> Output {
        try Task.checkCancellation()
        let pending = CallbackContinuation<Output>()
        return try await LibraryTask.reactingToCancel {
            try await LibraryTask.waitThrowing { continuation in
                guard pending.wait(continuation) else { return }
                let completion = CallbackCompletion(pending)
                pending.store(request(input) { completion.finish(with: $0) })
            }
        } onCancel: {
            pending.cancel()
        }
    }
}

/// Fails the request with ``DataProviderError/noAnswer`` if the completion that holds it is released uncalled.
private final class CallbackCompletion<Output: Sendable>: Sendable {
    private let pending: CallbackContinuation<Output>

    init(_ pending: CallbackContinuation<Output>) {
        self.pending = pending
    }

    func finish(with result: Result<Output, any Error>) {
        pending.finish(with: result)
    }

    deinit {
        pending.finish(with: .failure(DataProviderError.noAnswer))
    }
}
