import Synchronization

/// Runs work in the order in which it was added, each piece in a task that awaits the task before it.
final class TaskChain: Sendable {
    typealias Work = @Sendable () async -> Void

    private let last = Mutex<Task<Void, Never>?>(nil)

    func add(_ work: @escaping Work) {
        last.withLock { last in
            last = Task { [previous = last] in
                await previous?.value
                await work()
            }
        }
    }
}
