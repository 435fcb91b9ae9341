internal import Dispatch
internal import IDMCore

/// Bounded back-pressure: producers wait while too much is pending, until half of it is done.
///
/// A wait is limited. After one that timed out, no producer waits until the gate has opened again. While work is in
/// progress behind the gate, a wait may take several turns.
final class BackpressureGate: Sendable {
    private let patience: DispatchTimeInterval
    private let state: Locked<BackpressureStateMachine>
    /// Entered as long as the door is shut.
    private let door = DispatchGroup()

    /// - Parameters:
    ///   - limit: The amount that may be pending.
    ///   - patience: The length of one turn of a wait.
    ///   - turns: The number of consecutive turns without work after which a wait times out. A pause of the whole
    ///     process uses up only one.
    init(limit: Int, patience: DispatchTimeInterval, turns: Int = 1) {
        state = Locked(BackpressureStateMachine(limit: limit, idleTurns: turns))
        self.patience = patience
    }

    deinit {
        // A dispatch group that is never left can't be released.
        if state.withLock({ $0.isShut }) { door.leave() }
    }

    /// True if producers wait at the closed gate.
    var isPatient: Bool { state.withLock { $0.isPatient } }

    /// The number of begins and ends of work so far.
    var works: Int { state.withLock { $0.works } }

    /// - Parameter mayWait: False for who must not wait, though the door be shut.
    func enter(_ weight: Int = 1, mayWait: Bool = true) {
        let entry = state.withLock { state in
            let entry = state.enter(weight, mayWait: mayWait)
            if entry.shuts { door.enter() }
            return entry
        }
        guard var wait = entry.waits else { return }
        while door.wait(timeout: .now() + patience) == .timedOut {
            guard state.withLock({ $0.waitsOn(&wait) }) else { break }
        }
        state.withLock { $0.pass(weight) }
    }

    func leave(_ weight: Int = 1) {
        if state.withLock({ $0.leave(weight) }) { door.leave() }
    }

    /// Opens the gate for good.
    func end() {
        if state.withLock({ $0.end() }) { door.leave() }
    }

    /// Runs work that may take long and needs no waiting producer.
    func work<R>(_ body: () throws -> R) rethrows -> R {
        state.withLock { $0.work(true) }
        defer { state.withLock { $0.work(false) } }
        return try body()
    }
}
