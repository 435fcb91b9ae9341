internal import IDMCore

/// The time that one attempt at a download has its part. A pause may end it, and others wait for that.
final class DownloadStay: Sendable {
    private struct State {
        var isThere = false
        var isEnded = false
    }

    private let state = Locked(State())
    private let hasLeft = LatestValue(false)

    /// The part is about to be opened. Throws `CancellationError` if a pause has ended the attempt: others may be there
    /// by now.
    func begin() throws {
        try state.withLock { state in
            if state.isEnded { throw CancellationError() }
            state.isThere = true
        }
    }

    /// A pause ends the attempt, as soon as it can.
    func end() {
        state.withLock { $0.isEnded = true }
    }

    /// Nothing has the part open any more.
    func leave() {
        // First: whoever waits for the other looks again at once.
        state.withLock { $0.isThere = false }
        hasLeft.set(true)
    }

    /// Becomes true as soon as the part is left. Nil unless the attempt has it, and was ended.
    var leaving: LatestValue<Bool>? {
        state.withLock { $0.isThere && $0.isEnded } ? hasLeft : nil
    }
}
