internal import IDMCore
internal import Synchronization

/// The work on a transfer, from its start to its end: what may be held, let go on and stopped.
final class TransferRun: Sendable {
    let control = PauseControl()
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts the work. To be called once.
    func start(_ work: @escaping @Sendable () async -> Void) {
        let started = Task(executorPreference: LibraryTask.executor) { await work() }
        task.withLock { $0 = started }
    }

    /// Waits until the work has ended.
    func ended() async {
        await task.withLock { $0 }?.value
    }

    func stop() {
        task.withLock { $0 }?.cancel()
    }
}
