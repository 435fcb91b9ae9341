import Synchronization

/// The actors on which a handler runs.
///
/// A call that is made inside a handler starts in a later turn: tasks that start at once nest on the stack, and a handler
/// that calls again, whose handler calls again, would overflow it. An actor runs one thing at a time, and handlers don't
/// suspend: code on an actor with a running handler is inside that handler. Code on no actor starts calls in a later turn
/// anyway.
enum HandlerContext {
    /// Without a lock, as most handlers run on the main actor. Only code on the main actor changes or reads it.
    private static let isOnMainActor = Atomic(false)
    private static let mainActor = ObjectIdentifier(MainActor.shared)
    private static let otherActors = Locked<Set<ObjectIdentifier>>([])

    /// True if code on an actor is inside a handler.
    static func isInsideHandler(on actor: (any Actor)?) -> Bool {
        guard let actor else { return false }
        guard ObjectIdentifier(actor) != mainActor else { return isOnMainActor.load(ordering: .relaxed) }
        return otherActors.withLock { $0.contains(ObjectIdentifier(actor)) }
    }

    /// Begins a handler. Call it on the handler's actor, in the turn in which the handler runs.
    @inline(__always)
    static func enter(_ actor: (any Actor)?) {
        set(true, actor)
    }

    /// Ends a handler.
    @inline(__always)
    static func leave(_ actor: (any Actor)?) {
        set(false, actor)
    }

    private static func set(_ isInside: Bool, _ actor: (any Actor)?) {
        guard let actor else { return }
        guard ObjectIdentifier(actor) != mainActor else { return isOnMainActor.store(isInside, ordering: .relaxed) }
        otherActors.withLock { actors in
            if isInside { actors.insert(ObjectIdentifier(actor)) } else { actors.remove(ObjectIdentifier(actor)) }
        }
    }
}
