internal import Dispatch
internal import IDMCore

/// Bounded back-pressure: a producer waits while too many bytes are pending, until half of them have been read.
///
/// A wait is limited. After one that timed out, no producer waits until the gate has opened again.
final class BackpressureGate: Sendable {
    private let patience: DispatchTimeInterval
    private let state: Locked<BackpressureStateMachine>
    /// Entered as long as the gate is closed.
    private let door = DispatchGroup()

    /// - Parameters:
    ///   - limit: The number of bytes that may be pending.
    ///   - patience: The maximum length of a wait.
    init(limit: Int, patience: DispatchTimeInterval) {
        state = Locked(BackpressureStateMachine(limit: limit))
        self.patience = patience
    }

    deinit {
        // A dispatch group that is never left can't be released.
        if state.withLock({ $0.isShut }) { door.leave() }
    }

    /// True if producers wait at the closed gate.
    var isPatient: Bool { state.withLock { $0.isPatient } }

    /// Adds bytes, after a wait if the gate is closed.
    ///
    /// - Parameter mayWait: False for a producer that must not wait, even if the gate is closed.
    func enter(_ count: Int, mayWait: Bool = true) {
        let entry = state.withLock { state in
            let entry = state.enter(count, mayWait: mayWait)
            if entry.shuts { door.enter() }
            return entry
        }
        guard entry.waits else { return }
        let timedOut = door.wait(timeout: .now() + patience) == .timedOut
        state.withLock { $0.pass(count, timedOut: timedOut) }
    }

    /// Removes bytes that have been read.
    func leave(_ count: Int) {
        if state.withLock({ $0.leave(count) }) { door.leave() }
    }

    /// Opens the gate for good.
    func end() {
        if state.withLock({ $0.end() }) { door.leave() }
    }
}
