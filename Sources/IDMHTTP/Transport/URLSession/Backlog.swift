internal import Dispatch
internal import Synchronization

/// How much waits somewhere, and a door in front of it: shut when that is too much, open again when half of it is done.
///
/// Whoever finds the door shut waits, and never for good. Once somebody has waited for too long, nobody waits until the door
/// is open again.
final class Backlog: Sendable {
    private struct State {
        var count = 0
        var isShut = false
        /// False once somebody has waited for too long, until the door is open again.
        var isPatient = true
    }

    private let limit: Int
    private let patience: DispatchTimeInterval
    private let state = Mutex(State())
    /// Entered as long as the door is shut.
    private let door = DispatchGroup()

    /// - Parameters:
    ///   - limit: How much may wait.
    ///   - patience: How long somebody waits at the door at most.
    init(limit: Int, patience: DispatchTimeInterval) {
        self.limit = limit
        self.patience = patience
    }

    /// Whether whoever comes waits while the door is shut.
    var isPatient: Bool { state.withLock { $0.isPatient } }

    func enter(_ weight: Int = 1) {
        let waits = state.withLock { state in
            state.count += weight
            if state.count > limit, !state.isShut {
                state.isShut = true
                door.enter()
            }
            return state.isShut && state.isPatient
        }
        guard waits, door.wait(timeout: .now() + patience) == .timedOut else { return }
        state.withLock { if $0.isShut { $0.isPatient = false } }
    }

    func leave(_ weight: Int = 1) {
        let opens = state.withLock { state in
            state.count -= weight
            guard state.isShut, state.count <= limit / 2 else { return false }
            state.isShut = false
            state.isPatient = true
            return true
        }
        if opens { door.leave() }
    }
}
