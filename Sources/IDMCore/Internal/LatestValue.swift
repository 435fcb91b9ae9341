/// A value that changes, with any number of observers, each of which reads the latest value at its own pace.
package final class LatestValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var version = 1
        var isClosed = false
        var waiters = Waiters<Void>()
    }

    private let state: Locked<State>

    package init(_ value: Value) {
        state = Locked(State(value: value))
    }

    deinit { close() }

    package func set(_ value: Value) {
        let (before, waiters) = state.withLock { state in
            defer { (state.value, state.version) = (value, state.version + 1) }
            return (state.value, state.waiters.removeAll())
        }
        // Released outside of the lock, because it may run code of the user.
        withExtendedLifetime(before) {
            waiters.forEach { $0.resume() }
        }
    }

    /// Ends the observers once they have read the last value.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.waiters.removeAll()
        }
        waiters.forEach { $0.resume() }
    }

    /// Waits for a value with a version later than `version`; 0 is before the first one. Returns nil after the last value,
    /// and when the awaiting task is cancelled.
    package func next(after version: Int) async -> (value: Value, version: Int)? {
        while !Task.isCancelled {
            let (found, isClosed) = state.withLock { state -> ((value: Value, version: Int)?, Bool) in
                (state.version > version ? (state.value, state.version) : nil, state.isClosed)
            }
            if found != nil || isClosed { return found }
            await LibraryTask.wait(cancelled: ()) { waiter in
                state.withLock { state in
                    state.version <= version && !state.isClosed && state.waiters.add(waiter) ? nil : ()
                }
            } removing: { id in
                state.withLock { $0.waiters.remove(id) }
            }
        }
        return nil
    }
}

extension LatestValue<Bool> {
    /// Waits until the value is true or the awaiting task is cancelled.
    package func becomesTrueOrCancelled() async {
        var version = 0
        while let (isTrue, next) = await next(after: version), !isTrue { version = next }
    }
}
