/// Handlers that hear every call made after they were added. They run before the call's own, in the order in which they
/// were added, under the same rules.
extension Integrator {
    /// Hears that a call has started. See ``IntegrationCall/onBeginning(_:)``.
    @discardableResult
    public func onBeginning(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> Self {
        adding { $0.append(.beginning(handler)) }
    }

    /// Hears how far a call has come. See ``IntegrationCall/onProgress(_:)``.
    @discardableResult
    public func onProgress(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (IntegrationProgress) -> Void
    ) -> Self {
        adding { $0.append(.progress(handler)) }
    }

    /// Hears that a call is tried again. See ``IntegrationCall/onRetry(_:)``.
    @discardableResult
    public func onRetry(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Int, any Error) -> Void
    ) -> Self {
        adding { $0.append(.retry(handler)) }
    }

    /// Hears the value of a call. See ``IntegrationCall/onSuccess(_:)``.
    @discardableResult
    public func onSuccess(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Output) -> Void
    ) -> Self {
        adding { $0.append(.success(TypedSuccessHandler(handler: handler))) }
    }

    /// Hears the error of a call. See ``IntegrationCall/onError(_:)``.
    @discardableResult
    public func onError(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
    ) -> Self {
        adding { $0.append(.error(handler)) }
    }

    /// Hears that a call ended without a result. See ``IntegrationCall/onCancel(_:)``.
    @discardableResult
    public func onCancel(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (CancelReason) -> Void
    ) -> Self {
        adding { $0.append(.cancel(handler)) }
    }

    /// Hears that a call which had started has ended. See ``IntegrationCall/onCompletion(_:)``.
    @discardableResult
    public func onCompletion(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> Self {
        adding { $0.append(.completion(handler)) }
    }

    private func adding(_ change: (inout Handlers) -> Void) -> Self {
        engine.changeHandlers(change)
        return self
    }
}
