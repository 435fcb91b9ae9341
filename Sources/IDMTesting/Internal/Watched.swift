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
        let (result, satisfied) = state.withLock { state in
            let result = body(&state.value)
            let satisfied = state.waiters.filter { $0.isSatisfied(state.value) }
            state.waiters.removeAll { waiter in satisfied.contains { $0.id == waiter.id } }
            return (result, satisfied)
        }
        for waiter in satisfied { waiter.continuation.resume() }
        return result
    }

    /// Waits until the value is as it has to be. Throws when the task that waits is cancelled, unless it is deaf.
    package func wait(
        deaf: Bool = false, isolation: isolated (any Actor)? = #isolation,
        until isSatisfied: @escaping @Sendable (Value) -> Bool
    ) async throws {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        try await withTaskCancellationHandler {
            // Captured, or the closure leaves the caller's actor.
            _ = isolation
            try await LibraryTask.waitThrowing { continuation in
                let answer: Result<Void, any Error>? = state.withLock { state in
                    // Asked under the lock: a cancel that comes later finds the waiter.
                    if !deaf, Task.isCancelled { return .failure(CancellationError()) }
                    if isSatisfied(state.value) { return .success(()) }
                    state.waiters.append(Waiter(id: id, isSatisfied: isSatisfied, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            if !deaf { cancel(id) }
        }
    }

    private func cancel(_ id: Int) {
        let waiter: Waiter? = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
