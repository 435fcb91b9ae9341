/// Handlers, as ``IntegrationCall`` has them.
extension ErasedCall {
    package mutating func onBeginning(_ handler: @escaping @isolated(any) @Sendable () -> Void) {
        add(.beginning(handler))
    }

    package mutating func onProgress(_ handler: @escaping @isolated(any) @Sendable (IntegrationProgress) -> Void) {
        add(.progress(handler))
    }

    /// - Parameter handler: Takes the output that the call had before it was erased.
    package mutating func onSuccess<Output: Sendable>(_ handler: @escaping @isolated(any) @Sendable (Output) -> Void) {
        add(.success(TypedSuccessHandler(handler: handler)))
    }

    package mutating func onError(_ handler: @escaping @isolated(any) @Sendable (any Error) -> Void) {
        add(.error(handler))
    }

    package mutating func onCancel(_ handler: @escaping @isolated(any) @Sendable (CancelReason) -> Void) {
        add(.cancel(handler))
    }

    package mutating func onCompletion(_ handler: @escaping @isolated(any) @Sendable () -> Void) {
        add(.completion(handler))
    }

    private mutating func add(_ signal: consuming HandlerSignal) {
        plan.handlers.append(signal)
    }
}
