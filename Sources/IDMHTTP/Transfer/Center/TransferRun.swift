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
    /// Becomes true as soon as the work has ended.
    let hasEnded = LatestValue(false)
    private let state = Locked(State.idle)
    private let stay = Locked<DownloadStay?>(nil)

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
        await Task { await hasEnded.becomesTrueOrCancelled() }.value
    }

    /// The work is about to open the part of a download.
    func enter(_ stay: DownloadStay) {
        self.stay.withLock { $0 = stay }
    }

    /// Becomes true as soon as the work has left the part of a download, if it was held and is about to do so.
    var leaving: LatestValue<Bool>? { stay.withLock { $0 }?.leaving }

    func stop() {
        let task = state.withLock { state -> Task<Void, Never>? in
            if case .started(let task) = state { return task }
            state = .stopped
            return nil
        }
        task?.cancel()
    }
}
