/// Lets go of what may hold more of its kind, to any depth: of one after the other, and not of one inside the other.
///
/// An object lets go of what it holds while it goes itself, so a chain of objects would be released on the stack, which
/// ends before a long chain does. Those that may stand in a chain hand over here what they hold as they go. The first
/// of them to go lets go of it, and then of what has been handed over meanwhile.
final class DeferredRelease: Sendable {
    @TaskLocal private static var current: DeferredRelease?

    /// What is still held. Nil when all is over: a later task may pass for the one that has done it.
    private let rest = Locked<[any Sendable]?>([])
    /// The task that lets go, if any does. Those that are started meanwhile inherit the task-local, and are on their
    /// own: what they let go of goes before they go on as well.
    private let task = currentTask

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// Lets go of something that is held nowhere else. If this is called as something else is let go of, by the same
    /// task, it is next.
    static func release(_ held: inout (some Sendable)?) {
        if let current, current.take(&held) { return }
        let unlinking = DeferredRelease()
        _ = unlinking.take(&held)
        $current.withValue(unlinking) {
            while unlinking.releaseNext() {}
        }
    }

    /// Takes it over. Returns false if another task asks, or if it comes too late.
    func take(_ held: inout (some Sendable)?) -> Bool {
        guard task == Self.currentTask else { return false }
        return rest.withLock { rest in
            rest?.append(held.take())
            return rest != nil
        }
    }

    /// Returns false if there was nothing left.
    func releaseNext() -> Bool {
        let next = rest.withLock { rest in
            let next = rest?.popLast()
            if next == nil { rest = nil }
            return next
        }
        return next != nil
    }
}
