internal import IDMCore

/// How far a write is, for the writes that it supersedes: they end as it does.
final class WriteProgress: Sendable {
    private enum State {
        case running
        case ended((any Error)?)
    }

    /// Becomes true when the write has ended.
    let isOver = LatestValue(false)
    private let state = Locked(State.running)

    /// Ends the write. Only the first call counts.
    func end(_ error: (any Error)? = nil) {
        let isFirst = state.withLock { state in
            guard case .running = state else { return false }
            state = .ended(error)
            return true
        }
        if isFirst { isOver.set(true) }
    }

    /// Waits for the end of the write.
    ///
    /// - Throws: What the write has failed with, or a `CancellationError` if the task that waits is cancelled first.
    func waitForEnd() async throws {
        await isOver.becomesTrueOrCancelled()
        switch state.withLock({ $0 }) {
        case .running: throw CancellationError()
        case .ended(let error?): throw error
        case .ended(nil): return
        }
    }
}
