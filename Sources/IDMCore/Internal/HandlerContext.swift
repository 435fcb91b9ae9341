import Synchronization

/// Marks code that runs inside a handler.
///
/// A call that is made inside a handler starts in a later turn: tasks that start at once nest on the stack, and a handler
/// that calls again, whose handler calls again, would overflow it.
enum HandlerContext {
    @TaskLocal private static var current: (any HandlerOwner)?

    /// True if the caller runs inside a handler. Also true in a task that a handler has started, while another handler of
    /// the same call runs: a call made there only starts a turn later.
    static var isCurrent: Bool { current?.isDelivering ?? false }

    /// Binds the context for the handlers of one call, in the task that calls them.
    @inline(__always)
    static func bind(_ owner: any HandlerOwner, _ operation: () async -> Void) async {
        await LibraryTask.binding($current, to: owner, operation)
    }
}

/// An object whose handlers run in a ``HandlerContext``.
protocol HandlerOwner: AnyObject, Sendable {
    /// True while one of its handlers runs.
    var isDelivering: Bool { get }
}
