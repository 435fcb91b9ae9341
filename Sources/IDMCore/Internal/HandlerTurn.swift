import Synchronization

/// Tells code whether it runs inside a handler.
///
/// Handlers run with their turn bound as a task-local. A task that a handler starts inherits the binding but runs after
/// the turn, so the turn says itself whether it lasts.
final class HandlerTurn: Sendable {
    @TaskLocal private static var bound: HandlerTurn?

    private let isRunning = Atomic(false)

    /// Whether the caller runs inside a handler.
    static var isCurrent: Bool {
        bound?.isRunning.load(ordering: .relaxed) ?? false
    }

    /// Runs handlers, so that what they call knows it.
    func run<R>(isolation: isolated (any Actor)?, _ handlers: () async -> R) async -> R {
        isRunning.store(true, ordering: .relaxed)
        defer { isRunning.store(false, ordering: .relaxed) }
        return await Self.$bound.withValue(self, operation: handlers)
    }
}
