import Synchronization

/// Tells code whether it runs inside a handler.
///
/// A run's tasks carry its turn as a task-local, and the run says when handlers are running. What a handler starts may
/// inherit the turn, but runs after it.
final class HandlerTurn: Sendable {
    @TaskLocal private static var bound: HandlerTurn?

    private let isRunning = Atomic(false)

    /// Whether the caller runs inside a handler.
    static var isCurrent: Bool {
        bound?.isRunning.load(ordering: .relaxed) ?? false
    }

    /// Lets what is started inside the operation know when it is inside a handler of this turn.
    func bind<R>(_ operation: () -> R) -> R {
        Self.$bound.withValue(self, operation: operation)
    }

    func begin() {
        isRunning.store(true, ordering: .relaxed)
    }

    func end() {
        isRunning.store(false, ordering: .relaxed)
    }
}
