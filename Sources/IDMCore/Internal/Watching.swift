import Synchronization

/// An executor of a test kit that knows when the work given to it is at rest. See ``LibraryTask/executor``.
package protocol WorkWatch: TaskExecutor {
    /// Whether tasks are to prefer this executor already. Until then they start as they do without one.
    var isWatching: Bool { get }

    /// Something is about to happen where the executor can't see it: a task starts on an actor of its own accord, or
    /// one that waits is let go on.
    func stir()

    /// A task is on its way to an actor. To be met by one ``workArrived()``.
    func workDeparts()
    func workArrived()
}

/// A clock of a test kit, which moves when nothing is left to do. What is started for its sake goes to its executor.
package protocol WatchedClock: Sendable {
    var workload: any WorkWatch { get }

    /// Sleeps without leaving the caller's actor.
    func pause(for duration: Duration) async throws
}

extension LibraryTask {
    /// Whether anybody has ever watched in this process. Where nobody does, nobody has to look for the task-local.
    private static let isWatched = Atomic(false)

    /// The executor that a task started now prefers by the task-local.
    static var preferred: (any TaskExecutor)? {
        guard let executor else { return nil }
        guard let watch = executor as? any WorkWatch else { return executor }
        return watch.isWatching ? executor : nil
    }

    /// Somebody watches from now on.
    package static func beginWatching() {
        isWatched.store(true, ordering: .releasing)
    }

    /// Tells whoever watches the caller that something which waited is about to go on.
    package static func stir() {
        guard isWatched.load(ordering: .relaxed) else { return }
        (executor as? any WorkWatch)?.stir()
    }
}
