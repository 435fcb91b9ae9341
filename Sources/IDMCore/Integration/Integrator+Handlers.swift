/// Handlers for every call that is made after they were added. They run before the call's own handlers, in the order in
/// which they were added.
extension Integrator {
    /// Adds handlers that can be removed again.
    ///
    /// ```swift
    /// let registration = users.addHandlers {
    ///     $0.onBeginning { spinner.start() }.onCompletion { spinner.stop() }
    /// }
    /// registration.remove()
    /// ```
    ///
    /// - Parameter configure: Adds the handlers to the call that it receives. Called once, before this method returns;
    ///   retry rules and chained calls are ignored.
    public func addHandlers(
        _ configure: (IntegrationCall<Output>) -> IntegrationCall<Output>
    ) -> HandlerRegistration {
        let id = core.addHandlers(configure(.unprepared).shared)
        return HandlerRegistration { [core] in core.removeHandlers(id) }
    }

    /// Adds a handler for the begin event. See ``IntegrationCall/onBeginning(_:)``.
    @discardableResult
    public func onBeginning(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> Self {
        adding { $0.append(.begin, .plain(handler), on: handler.isolation) }
    }

    /// Adds a handler for progress. See ``IntegrationCall/onProgress(_:)``.
    @discardableResult
    public func onProgress(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (IntegrationProgress) -> Void
    ) -> Self {
        adding { $0.append(.progress, .progress(handler), on: handler.isolation) }
    }

    /// Adds a handler for retries. See ``IntegrationCall/onRetry(_:)``.
    @discardableResult
    public func onRetry(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Int, any Error) -> Void
    ) -> Self {
        adding { $0.append(.retry, .retry(handler), on: handler.isolation) }
    }

    /// Adds a handler for values. See ``IntegrationCall/onSuccess(_:)``.
    @discardableResult
    public func onSuccess(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (Output) -> Void
    ) -> Self {
        adding { $0.append(.success, .success(SuccessHandler(handler)), on: handler.isolation) }
    }

    /// Adds a handler for errors. See ``IntegrationCall/onError(_:)``.
    @discardableResult
    public func onError(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
    ) -> Self {
        adding { $0.append(.error, .error(handler), on: handler.isolation) }
    }

    /// Adds a handler for cancellations. See ``IntegrationCall/onCancel(_:)``.
    @discardableResult
    public func onCancel(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable (CancelReason) -> Void
    ) -> Self {
        adding { $0.append(.cancel, .cancel(handler), on: handler.isolation) }
    }

    /// Adds a handler for the completion event. See ``IntegrationCall/onCompletion(_:)``.
    @discardableResult
    public func onCompletion(
        @_inheritActorContext(always) _ handler: @escaping @isolated(any) @Sendable () -> Void
    ) -> Self {
        adding { $0.append(.completion, .plain(handler), on: handler.isolation) }
    }

    func adding(_ change: (inout HandlerSet) -> Void) -> Self {
        var added = SharedHandlers()
        change(&added.handlers)
        core.addHandlers(added)
        return self
    }
}

/// Handlers that were added to an integrator with ``Integrator/addHandlers(_:)``.
public struct HandlerRegistration: Sendable {
    private let removeHandlers: @Sendable () -> Void

    init(_ removeHandlers: @escaping @Sendable () -> Void) {
        self.removeHandlers = removeHandlers
    }

    /// Removes the handlers from calls that are made later. Calls that were made before keep them.
    public func remove() {
        removeHandlers()
    }
}
