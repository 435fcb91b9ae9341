extension IntegrationCall {
    /// Hears that the call has started, once, before anything else.
    public consuming func onBeginning(
        @_inheritActorContext(always) _ handler: consuming @escaping @isolated(any) @Sendable () -> Void
    ) -> IntegrationCall {
        adding(.beginning(handler))
    }

    /// Hears how far the call has come, as often as a provider below reports, with some reports left out.
    ///
    /// The fraction never goes backwards. The last report before a value is heard before that value, and none is heard
    /// after a cancel or after the end.
    public consuming func onProgress(
        @_inheritActorContext(always) _ handler:
            consuming @escaping @isolated(any) @Sendable (IntegrationProgress) -> Void
    ) -> IntegrationCall {
        adding(.progress(handler))
    }

    /// Hears that the call is tried again, before the delay: which retry it is, from 1, and the error that led to it.
    public consuming func onRetry(
        @_inheritActorContext(always) _ handler: consuming @escaping @isolated(any) @Sendable (Int, any Error) -> Void
    ) -> IntegrationCall {
        adding(.retry(handler))
    }

    /// Hears the value: once, or once for each value of a stream.
    ///
    /// The value is committed in the turn in which the first handler runs. A cancel before that keeps it from being
    /// heard; after it, all handlers of the value run.
    @inlinable
    public consuming func onSuccess(
        @_inheritActorContext(always) _ handler: consuming @escaping @isolated(any) @Sendable (Output) -> Void
    ) -> IntegrationCall {
        adding(success: TypedSuccessHandler(handler: handler))
    }

    @usableFromInline
    consuming func adding(success handler: consuming TypedSuccessHandler<Output>) -> IntegrationCall {
        adding(.success(handler))
    }

    /// Hears the error that ended the call, at most once. A cancel is never heard here.
    public consuming func onError(
        @_inheritActorContext(always) _ handler: consuming @escaping @isolated(any) @Sendable (any Error) -> Void
    ) -> IntegrationCall {
        adding(.error(handler))
    }

    /// Hears why the call ended without a result, at most once. A call that never started hears only this.
    public consuming func onCancel(
        @_inheritActorContext(always) _ handler: consuming @escaping @isolated(any) @Sendable (CancelReason) -> Void
    ) -> IntegrationCall {
        adding(.cancel(handler))
    }

    /// Hears that the call has ended: last, and exactly once for each beginning.
    public consuming func onCompletion(
        @_inheritActorContext(always) _ handler: consuming @escaping @isolated(any) @Sendable () -> Void
    ) -> IntegrationCall {
        adding(.completion(handler))
    }

    consuming func adding(_ signal: consuming HandlerSignal) -> IntegrationCall {
        plan.handlers.append(signal)
        return self
    }
}
