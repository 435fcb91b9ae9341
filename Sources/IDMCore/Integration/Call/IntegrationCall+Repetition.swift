/// Starts a call again, with everything that was prepared for it.
typealias CallRepetition = @Sendable (_ isolation: isolated (any Actor)?) -> Void

extension IntegrationCall {
    /// Adds a handler for the error that ends the call. It runs among those of ``onError(_:)``, in the order of adding.
    ///
    /// - Parameter handler: Receives the error, and a closure that starts the same call again: the same input, handlers,
    ///   retry rule and chain. The closure holds all of them.
    consuming func onFailure(
        @_inheritActorContext(always) _ handler:
            @escaping @isolated(any) @Sendable (any Error, @escaping CallRepetition) -> Void
    ) -> IntegrationCall {
        updating { $0.handlers.append(.error, .repeatableError(handler), on: handler.isolation) }
    }
}

extension Integrator {
    /// Adds a handler for the errors of all calls. See ``IntegrationCall/onFailure(_:)``.
    @discardableResult
    func onFailure(
        @_inheritActorContext(always) _ handler:
            @escaping @isolated(any) @Sendable (any Error, @escaping CallRepetition) -> Void
    ) -> Self {
        adding { $0.append(.error, .repeatableError(handler), on: handler.isolation) }
    }
}
