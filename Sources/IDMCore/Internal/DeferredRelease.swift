/// Releases objects of a chain in a loop, instead of recursively.
///
/// An object releases what it holds in its deinitializer, so the release of a chain is recursive, and a long chain would
/// overflow the stack. An object that can be part of a chain passes what it holds to this type in its deinitializer. The
/// first of them releases that, and then everything that was passed on during the release.
final class DeferredRelease: Sendable {
    @TaskLocal private static var current: DeferredRelease?

    /// The objects still to be released. Nil once all are: a later task may have the same number as this one.
    private let pending = Locked<[any Sendable]?>([])
    /// The task that releases. A task started during the release inherits the task-local, and releases its own objects.
    private let task = currentTask

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// Releases an object that nothing else holds. During another release of the same task, the object is released next.
    static func release(_ held: inout (some Sendable)?) {
        if let current, current.take(&held) { return }
        let release = DeferredRelease()
        _ = release.take(&held)
        $current.withValue(release) {
            while release.releaseNext() {}
        }
    }

    /// Takes an object. Returns false in another task, and after the last release.
    func take(_ held: inout (some Sendable)?) -> Bool {
        guard task == Self.currentTask else { return false }
        return pending.withLock { pending in
            pending?.append(held.take())
            return pending != nil
        }
    }

    /// Returns false if no object was left.
    func releaseNext() -> Bool {
        let next = pending.withLock { pending in
            let next = pending?.popLast()
            if next == nil { pending = nil }
            return next
        }
        return next != nil
    }
}
