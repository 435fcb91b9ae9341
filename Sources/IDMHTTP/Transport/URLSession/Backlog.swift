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
        var isOver = false
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

    deinit {
        // A group that is entered for good is never let go of.
        if state.withLock({ $0.isShut }) { door.leave() }
    }

    /// Whether whoever comes waits while the door is shut.
    var isPatient: Bool { state.withLock { $0.isPatient } }

    /// - Parameter mayWait: False for who must not wait, though the door be shut.
    func enter(_ weight: Int = 1, mayWait: Bool = true) {
        let waits = state.withLock { state in
            // Where nothing is, even the heaviest has room.
            if mayWait, state.count > 0, state.count + weight > limit, !state.isShut, !state.isOver {
                state.isShut = true
                door.enter()
            }
            let waits = mayWait && state.isShut && state.isPatient
            if !waits { state.count += weight }
            return waits
        }
        guard waits else { return }
        let isTooLate = door.wait(timeout: .now() + patience) == .timedOut
        state.withLock { state in
            if isTooLate, state.isShut { state.isPatient = false }
            state.count += weight
        }
    }

    func leave(_ weight: Int = 1) {
        open { state in
            state.count -= weight
            return state.count <= limit / 2
        }
    }

    /// Nobody waits any more.
    func end() {
        open { state in
            state.isOver = true
            return true
        }
    }

    private func open(if mayOpen: (inout State) -> Bool) {
        let opens = state.withLock { state in
            guard mayOpen(&state), state.isShut else { return false }
            state.isShut = false
            state.isPatient = true
            return true
        }
        if opens { door.leave() }
    }
}
