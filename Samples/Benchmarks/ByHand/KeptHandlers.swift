/// Three handlers of the types that a call stores. They are stored and never called. Every use of a call allocates the
/// same.
struct KeptHandlers: Sendable {
    let onBeginning: @isolated(any) @Sendable () -> Void
    let onSuccess: @isolated(any) @Sendable (Int) -> Void
    let onCompletion: @isolated(any) @Sendable () -> Void

    @inline(never)
    init(
        @_inheritActorContext(always) onBeginning: @escaping @isolated(any) @Sendable () -> Void,
        @_inheritActorContext(always) onSuccess: @escaping @isolated(any) @Sendable (Int) -> Void,
        @_inheritActorContext(always) onCompletion: @escaping @isolated(any) @Sendable () -> Void
    ) {
        self.onBeginning = onBeginning
        self.onSuccess = onSuccess
        self.onCompletion = onCompletion
    }

    /// The number of handlers that run on an actor.
    @inline(never)
    var isolatedCount: Int {
        (onBeginning.isolation == nil ? 0 : 1) + (onSuccess.isolation == nil ? 0 : 1)
            + (onCompletion.isolation == nil ? 0 : 1)
    }
}
