internal import Dispatch
internal import IDMCore

/// How much waits somewhere, and a door in front of it: shut when that is too much, open again when half of it is done.
///
/// Whoever finds the door shut waits, and never for good. Once somebody has waited for too long, nobody waits until the
/// door is open again. What is known to be at work behind it is given a few turns more.
final class Backlog: Sendable {
    private let patience: DispatchTimeInterval
    private let state: Locked<BacklogState>
    /// Entered as long as the door is shut.
    private let door = DispatchGroup()

    /// - Parameters:
    ///   - limit: How much may wait.
    ///   - patience: How long a turn is that somebody waits at the door.
    ///   - turns: How many they wait in a row in which nobody is at work behind it. Where the whole process stands
    ///     still for a while, that takes but one of them.
    init(limit: Int, patience: DispatchTimeInterval, turns: Int = 1) {
        state = Locked(BacklogState(limit: limit, idleTurns: turns))
        self.patience = patience
    }

    deinit {
        // A group that is entered for good is never let go of.
        if state.withLock({ $0.isShut }) { door.leave() }
    }

    /// Whether whoever comes waits while the door is shut.
    var isPatient: Bool { state.withLock { $0.isPatient } }

    /// How often work behind the door has begun or ended.
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

    /// Nobody waits any more.
    func end() {
        if state.withLock({ $0.end() }) { door.leave() }
    }

    /// Does what may take its time, and waits for nobody who is at the door.
    func work<R>(_ body: () throws -> R) rethrows -> R {
        state.withLock { $0.work(true) }
        defer { state.withLock { $0.work(false) } }
        return try body()
    }
}
