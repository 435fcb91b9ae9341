public import Foundation
public import IDMCore

/// A provider around operations: makes one for each request, and answers with its output.
///
/// ```swift
/// let resize = OperationDataProvider { image in
///     ResizeOperation(image)
/// } output: {
///     $0.resized
/// }
/// let thumbnails = load >>>> resize
/// ```
///
/// Cancelling a request cancels its operation and ends the request at once. An operation that carries its result also
/// pauses with the request, and reports its progress to it.
///
/// The end of an operation is heard by its `completionBlock`. One that it was made with is called as well; who sets
/// another one later takes the answer away, and the request fails with `DataProviderError.noAnswer`.
public struct OperationDataProvider<Input: Sendable, Output: Sendable>: CallbackDataProvider {
    private typealias Job = (
        operation: Operation, follow: () -> Void, result: @Sendable () -> Result<Output, any Error>?
    )

    private let queue: OperationQueue?
    private let make: @Sendable (Input) -> Job

    /// The operation, by the name of its type.
    public let structure: ProviderStructure

    /// Makes a provider around operations of any kind. One that has been cancelled ends its request with a
    /// `CancellationError`.
    ///
    /// - Parameters:
    ///   - queue: Where the operations run. Without one, each has a queue of its own.
    ///   - make: Makes an operation that is in no queue and has not been started.
    ///   - output: Reads the output of an operation that has finished. Nil is ``OperationError/noOutput(of:)``.
    public init<Work: Operation>(
        on queue: OperationQueue? = nil, _ make: @escaping @Sendable (Input) -> Work,
        output: @escaping @Sendable (Work) throws -> Output?
    ) {
        self.init(on: queue, make) { operation in
            Result {
                guard !operation.isCancelled else { throw CancellationError() }
                guard let output = try output(operation) else { throw OperationError.noOutput(of: operation.label) }
                return output
            }
        }
    }

    /// Makes a provider around operations that carry their result.
    ///
    /// - Parameters:
    ///   - queue: Where the operations run. Without one, each has a queue of its own.
    ///   - make: Makes an operation that is in no queue and has not been started.
    public init<Work: ResultOperation<Output>>(
        on queue: OperationQueue? = nil, _ make: @escaping @Sendable (Input) -> Work
    ) {
        self.init(on: queue, make, follow: { $0.followRequest() }) { operation in
            // Not asked whether it is cancelled: that may have come too late to change the result.
            Result {
                guard let outcome = operation.outcome else { throw OperationError.noOutput(of: operation.label) }
                return try outcome.get()
            }
        }
    }

    private init<Work: Operation>(
        on queue: OperationQueue?, _ make: @escaping @Sendable (Input) -> Work,
        follow: @escaping @Sendable (Work) -> Void = { _ in },
        result: @escaping @Sendable (Work) -> Result<Output, any Error>
    ) {
        self.queue = queue
        structure = .provider("operation: \(Work.self)")
        self.make = { input in
            let work = make(input)
            // Weakly: an operation holds its completion block, and one that is never finished is not to hold itself.
            return (work, { follow(work) }, { [weak work] in work.map(result) })
        }
    }

    /// Makes the operation and adds it to the queue.
    public func request(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> CancelHandler? {
        let (operation, follow, result) = make(input)
        let isNew = QueuedOperations.shared.add(operation)
        // Looked at once it is listed: until then somebody else may have it run, and be done with it.
        guard isNew, !operation.isExecuting, !operation.isFinished else {
            if isNew { QueuedOperations.shared.remove(ObjectIdentifier(operation)) }
            completion(.failure(OperationError.alreadyStarted(operation.label)))
            return nil
        }
        follow()
        let others = operation.completionBlock
        // Not the operation itself, which holds the block.
        operation.completionBlock = { [id = ObjectIdentifier(operation)] in
            QueuedOperations.shared.remove(id)
            others?()
            if let result = result() { completion(result) }
        }
        (queue ?? OperationQueue()).addOperation(operation)
        return { operation.cancel() }
    }
}

extension ResultOperation {
    /// Reports to the request that is being made, and pauses when that does.
    fileprivate func followRequest() {
        if let reporter = IntegrationProgress.current { onProgress { reporter.send($0) } }
        guard let control = PauseControl.current else { return }
        let observation = control.observe { [weak self, weak control] in
            guard let self, let control else { return }
            self.follow(control)
        }
        whenOver { _ in withExtendedLifetime(observation) {} }
        if control.isPaused { follow(control) }
    }

    /// Does as a control does. Looks again, because of two changes that are made at once, either may come first.
    private func follow(_ control: PauseControl) {
        while true {
            let isToPause = control.isPaused
            if isPaused == isToPause { return }
            if isToPause { pause() } else { resume() }
        }
    }
}
