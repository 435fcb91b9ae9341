internal import IDMCore

/// How far a write is, for the writes that it supersedes, which end as it does, and for the requests that wait for it.
final class WriteProgress: Sendable {
    private struct State {
        var hasEnded = false
        var error: (any Error)?
        var isHeldUp = false
        /// Writes that wait for the end of this one.
        var superseded: [WriteProgress] = []
    }

    /// Becomes true when the write has ended, or has to wait for another process: no request waits for it from then on.
    let isOverOrHeldUp = LatestValue(false)
    private let isOver = LatestValue(false)
    private let state = Locked(State())

    /// Ends the write. Only the first call counts.
    func end(_ error: (any Error)? = nil) {
        let isFirst = state.withLock { state in
            guard !state.hasEnded else { return false }
            (state.hasEnded, state.error, state.superseded) = (true, error, [])
            return true
        }
        guard isFirst else { return }
        isOver.set(true)
        isOverOrHeldUp.set(true)
    }

    /// The write has to wait for another process, and so have those that wait for it.
    func holdUp() {
        let superseded = state.withLock { state -> [WriteProgress]? in
            guard !state.isHeldUp, !state.hasEnded else { return nil }
            state.isHeldUp = true
            return state.superseded
        }
        guard let superseded else { return }
        isOverOrHeldUp.set(true)
        for write in superseded { write.holdUp() }
    }

    /// Lets a write that this one supersedes wait for the end of this one.
    ///
    /// - Throws: What this write has failed with, or a `CancellationError` if the task that waits is cancelled first.
    func holdBack(_ write: WriteProgress) async throws {
        let isHeldUp = state.withLock { state in
            if !state.hasEnded { state.superseded.append(write) }
            return state.isHeldUp
        }
        if isHeldUp { write.holdUp() }
        await isOver.becomesTrueOrCancelled()
        let (hasEnded, error) = state.withLock { ($0.hasEnded, $0.error) }
        guard hasEnded else { throw CancellationError() }
        if let error { throw error }
    }
}
