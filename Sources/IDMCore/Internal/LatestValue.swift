/// A value that changes, and any number of those who follow it: each in its own pace, and each hears the latest one.
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
        // What the user wrote may be in it, and goes where no lock is held.
        withExtendedLifetime(before) {
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Lets those who follow come to an end once they have heard the last value.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The first value after one that was heard, with its version. The version before the first one is 0. Nil once
    /// there is no more, and when the task that waits is cancelled.
    package func next(after version: Int) async -> (value: Value, version: Int)? {
        while !Task.isCancelled {
            let (found, id) = state.withLock { state -> ((value: Value, version: Int)?, Int?) in
                if state.version > version { return ((state.value, state.version), nil) }
                if state.isClosed { return (nil, nil) }
                return (nil, state.waiters.newID())
            }
            guard let id else { return found }
            await LibraryTask.hearingCancel {
                await LibraryTask.wait { continuation in
                    let goesOn = state.withLock { state in
                        // Under the lock: a cancel that comes later finds the waiter.
                        if state.version > version || state.isClosed || Task.isCancelled { return true }
                        state.waiters.add(continuation, id)
                        return false
                    }
                    if goesOn { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiters.remove(id) }?.resume()
            }
        }
        return nil
    }
}

extension LatestValue<Bool> {
    /// Waits until it is true, or the task that waits is cancelled.
    package func becomesTrueOrCancelled() async {
        var version = 0
        while let (isTrue, next) = await next(after: version), !isTrue { version = next }
    }
}
