public import IDMCore

/// Handlers, under the rules of the call contract: each runs on the actor on which it was written, in one fixed order.
///
/// Add them before the operation is started or cancelled. Later ones aren't heard.
extension ResultOperation {
    /// Hears that the operation has begun its work. One that was cancelled before it was started never does.
    @discardableResult
    public func onBeginning(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> Self {
        preparing { $0 = $0.onBeginning(handler) }
    }

    /// Hears how far the work has come.
    @discardableResult
    public func onProgress(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (IntegrationProgress) -> Void
    ) -> Self {
        preparing { $0 = $0.onProgress(handler) }
    }

    /// Hears the value: once, or once for each value of a stream.
    @discardableResult
    public func onSuccess(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Output) -> Void
    ) -> Self {
        preparing { $0 = $0.onErasedSuccess(handler) }
    }

    /// Hears the error that ended the work. A cancel is never heard here.
    @discardableResult
    public func onError(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
    ) -> Self {
        preparing { $0 = $0.onError(handler) }
    }

    /// Hears that the operation was cancelled, once: before, at or after its start.
    @discardableResult
    public func onCancel(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (CancelReason) -> Void
    ) -> Self {
        preparing { $0 = $0.onCancel(handler) }
    }

    /// Hears that the work has ended, however it did: last, once for each beginning. Foundation's `completionBlock`
    /// comes for an operation that was cancelled before that as well.
    @discardableResult
    public func onCompletion(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> Self {
        preparing { $0 = $0.onCompletion(handler) }
    }

    private func preparing(_ change: (inout IntegrationCall<any Sendable>) -> Void) -> Self {
        prepare(change)
        return self
    }
}
