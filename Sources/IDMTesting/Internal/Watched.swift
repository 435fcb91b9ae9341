import IDMCore

/// A value behind a lock, with somebody who may wait for it to come to a state. The rest of the kit is made of this.
package final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let isSatisfied: @Sendable (Value) -> Bool
        let continuation: WatchedContinuation<Void, any Error>
    }

    private struct State {
        var value: Value
        /// Changes with the value.
        var version = 0
        var waiters: [Waiter] = []
        var lastWaiter = 0
    }

    private let state: Locked<State>

    package init(_ value: Value) {
        state = Locked(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, then lets those go on for whom it is right now.
    @discardableResult
    package func change<R: Sendable>(_ body: @Sendable (inout Value) -> R) -> R {
        let (result, value, waiters) = state.withLock { state in
            let result = body(&state.value)
            state.version += 1
            return (result, state.waiters.isEmpty ? nil : state.value, state.waiters)
        }
        if let value {
            // Where no lock is held: what is asked is the test's own, and may ask for the value in its turn.
            for waiter in waiters where waiter.isSatisfied(value) { take(waiter.id)?.resume() }
        }
        return result
    }

    /// Waits until the value is as it has to be. Throws when the task that waits is cancelled, unless it is deaf.
    package func wait(deaf: Bool = false, until isSatisfied: @escaping @Sendable (Value) -> Bool) async throws {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        try await LibraryTask.hearingCancel {
            try await LibraryTask.waitThrowing { continuation in
                let waiter = Waiter(id: id, isSatisfied: isSatisfied, continuation: continuation)
                while true {
                    let (value, version) = state.withLock { ($0.value, $0.version) }
                    if deaf || !Task.isCancelled, isSatisfied(value) { return continuation.resume() }
                    let isToLook = state.withLock { state -> Bool? in
                        // Asked under the lock: a cancel that comes later finds the waiter.
                        if !deaf, Task.isCancelled { return nil }
                        guard state.version == version else { return true }
                        state.waiters.append(waiter)
                        return false
                    }
                    switch isToLook {
                    case true: continue
                    case false: return
                    case nil: return continuation.resume(throwing: CancellationError())
                    }
                }
            }
        } onCancel: {
            if !deaf { take(id)?.resume(throwing: CancellationError()) }
        }
    }

    /// Takes a waiter out, for one who lets it go on.
    private func take(_ id: Int) -> WatchedContinuation<Void, any Error>? {
        state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
        }
    }
}
