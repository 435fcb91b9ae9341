/// Three handlers of the kind that a call takes: they are kept, and that is all. Whatever uses a call makes as much of
/// them.
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

    /// How many of them run on an actor.
    @inline(never)
    var isolatedCount: Int {
        (onBeginning.isolation == nil ? 0 : 1) + (onSuccess.isolation == nil ? 0 : 1)
            + (onCompletion.isolation == nil ? 0 : 1)
    }
}
