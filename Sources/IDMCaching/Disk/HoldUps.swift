internal import IDMCore

/// The writes of a partition that is held by another process. A request that has its answer doesn't wait for them.
final class HoldUps: Sendable {
    private struct State {
        /// How many threads wait.
        var waiting = 0
        var writes: [ObjectIdentifier: WriteProgress] = [:]
    }

    private let state = Locked(State())

    /// A write begins, which may have to wait, or stand in line behind one that does.
    func add(_ write: WriteProgress) {
        let isHeldUp = state.withLock { state in
            state.writes[ObjectIdentifier(write)] = write
            return state.waiting > 0
        }
        if isHeldUp { write.holdUp() }
    }

    func remove(_ write: WriteProgress) {
        state.withLock { _ = $0.writes.removeValue(forKey: ObjectIdentifier(write)) }
    }

    /// A thread begins to wait for another process.
    func begin() {
        let writes = state.withLock { state in
            state.waiting += 1
            return Array(state.writes.values)
        }
        for write in writes { write.holdUp() }
    }

    func end() {
        state.withLock { $0.waiting -= 1 }
    }
}
