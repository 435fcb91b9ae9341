internal import IDMCore

/// The work on a transfer, from its start to its end: what may be held, let go on and stopped.
final class TransferRun: Sendable {
    private enum State {
        case idle
        /// To be stopped as soon as it starts.
        case stopped
        case started(Task<Void, Never>)
    }

    let control = PauseControl()
    private let state = Locked(State.idle)
    private let hasEnded = LatestValue(false)

    /// Starts the work. To be called once.
    func start(_ work: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: LibraryTask.executor) { [hasEnded] in
            await work()
            hasEnded.set(true)
        }
        let isStopped = state.withLock { state in
            defer { state = .started(task) }
            if case .stopped = state { return true }
            return false
        }
        if isStopped { task.cancel() }
    }

    /// Waits until the work has ended, also if it is still to start, and if the task that waits is cancelled.
    func ended() async {
        await Task { await endedOrCancelled() }.value
    }

    /// Waits until the work has ended, or the task that waits is cancelled.
    func endedOrCancelled() async {
        var version = 0
        while let (hasEnded, next) = await hasEnded.next(after: version), !hasEnded { version = next }
    }

    func stop() {
        let task = state.withLock { state -> Task<Void, Never>? in
            if case .started(let task) = state { return task }
            state = .stopped
            return nil
        }
        task?.cancel()
    }
}
