import Synchronization

/// Tells code whether it runs inside a handler.
///
/// A run's tasks carry its turn as a task-local, and the run says when handlers are running. A task that a handler
/// starts inherits the turn. If it runs on another thread while handlers of the same run still do, it passes for one of
/// them, and a call that it makes starts a turn later than it could.
final class HandlerTurn: Sendable {
    @TaskLocal private static var bound: HandlerTurn?

    private let isRunning = Atomic(false)

    /// Whether the caller runs inside a handler.
    static var isCurrent: Bool {
        bound?.isRunning.load(ordering: .relaxed) ?? false
    }

    /// Tells the run whose handler asks from all others that haven't ended.
    static var current: ObjectIdentifier? { bound.map { ObjectIdentifier($0) } }

    /// Lets what is started inside the operation know when it is inside a handler of this turn. To be called by the
    /// task that calls the handlers: bound outside of it, the turn would have to be copied into it.
    @inline(__always)
    func bind(_ operation: () async -> Void) async {
        await LibraryTask.binding(Self.$bound, to: self, operation)
    }

    func begin() {
        isRunning.store(true, ordering: .relaxed)
    }

    func end() {
        isRunning.store(false, ordering: .relaxed)
    }
}
