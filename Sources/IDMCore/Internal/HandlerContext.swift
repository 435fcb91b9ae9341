import Synchronization

/// The actors on which a handler runs.
///
/// A call that is made inside a handler starts in a later turn: tasks that start at once nest on the stack, and a handler
/// that calls again, whose handler calls again, would overflow it. An actor runs one thing at a time, and handlers don't
/// suspend: code on an actor with a running handler is inside that handler. Code on no actor starts calls in a later turn
/// anyway.
///
/// Tasks that prefer an executor, as those of a test kit do, are the exception: they suspend on their way to a handler on
/// the main actor, and other code may run there before the handler. Such a task marks its actor for itself alone.
enum HandlerContext {
    /// The mark of the main actor, or zero. Without a lock, as most handlers run there. Only code on the main actor
    /// changes or reads it.
    private static let markOfMainActor = Atomic(0)
    private static let mainActor = ObjectIdentifier(MainActor.shared)
    private static let otherMarks = Locked<[ObjectIdentifier: Int]>([:])

    /// True if code on an actor is inside a handler.
    static func isInsideHandler(on actor: (any Actor)?) -> Bool {
        guard let actor else { return false }
        let mark =
            ObjectIdentifier(actor) == mainActor
            ? markOfMainActor.load(ordering: .relaxed) : otherMarks.withLock { $0[ObjectIdentifier(actor)] ?? 0 }
        return mark != 0 && mark == currentMark()
    }

    /// Begins a handler. Call it on the handler's actor, in the turn in which the handler runs.
    @inline(__always)
    static func enter(_ actor: (any Actor)?) {
        if let actor { set(currentMark(), actor) }
    }

    /// Ends a handler.
    @inline(__always)
    static func leave(_ actor: (any Actor)?) {
        if let actor { set(0, actor) }
    }

    /// The mark that the current task sets: one for all tasks that don't suspend on their way to a handler.
    private static func currentMark() -> Int {
        // Without a test kit, no task prefers an executor.
        guard LibraryTask.isWatched.load(ordering: .relaxed) else { return 1 }
        return withUnsafeCurrentTask { task in
            guard let task, task.unownedTaskExecutor != nil else { return 1 }
            return task.hashValue | 2
        }
    }

    private static func set(_ mark: Int, _ actor: any Actor) {
        guard ObjectIdentifier(actor) != mainActor else { return markOfMainActor.store(mark, ordering: .relaxed) }
        otherMarks.withLock { $0[ObjectIdentifier(actor)] = mark == 0 ? nil : mark }
    }
}
