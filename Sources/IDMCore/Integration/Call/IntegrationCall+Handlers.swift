extension IntegrationCall {
    /// Adds a handler for the begin event, which comes once, before all others.
    public consuming func onBeginning(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.begin, .plain(handler), on: handler.isolation) }
    }

    /// Adds a handler for progress. Some of the provider's reports may be skipped.
    ///
    /// The fraction never decreases. The last report before a value is delivered before that value; no report is delivered
    /// after a cancel or after the end.
    public consuming func onProgress(
        @_inheritActorContext(always) _ handler:
            @escaping @isolated(any) @Sendable (IntegrationProgress) -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.progress, .progress(handler), on: handler.isolation) }
    }

    /// Adds a handler for retries. It receives the number of the retry, from 1, and the error that caused it, before the
    /// delay.
    public consuming func onRetry(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Int, any Error) -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.retry, .retry(handler), on: handler.isolation) }
    }

    /// Adds a handler for the value; for a stream, it receives each value.
    ///
    /// A value is committed in the turn in which the first handler runs. A cancel before that replaces the value; after it,
    /// all handlers of the value run.
    @inlinable
    public consuming func onSuccess(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Output) -> Void
    ) -> IntegrationCall {
        adding(SuccessHandler(handler))
    }

    @usableFromInline
    consuming func adding(_ handler: SuccessHandler) -> IntegrationCall {
        updating { $0.handlers.append(.success, .success(handler), on: handler.isolation) }
    }

    /// Adds a handler for the error that ends the call. It never receives a cancellation.
    public consuming func onError(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.error, .error(handler), on: handler.isolation) }
    }

    /// Adds a handler for the reason for which the call ends without a result. A call that was never started delivers only
    /// this event.
    public consuming func onCancel(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (CancelReason) -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.cancel, .cancel(handler), on: handler.isolation) }
    }

    /// Adds a handler for the end of the call: the last event, exactly once for each begin event.
    public consuming func onCompletion(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.completion, .plain(handler), on: handler.isolation) }
    }
}

extension IntegrationCall<any Sendable> {
    /// Adds a handler for the value to a call that was made from an `IntegrationCall<Value>`.
    package consuming func onErasedSuccess<Value: Sendable>(
        _ handler: @escaping @isolated(any) @Sendable (Value) -> Void
    ) -> IntegrationCall {
        adding(SuccessHandler(handler))
    }
}
