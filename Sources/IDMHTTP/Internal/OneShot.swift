internal import IDMCore

/// The first of several results, for one awaiting task. Later results are discarded.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(TrackedContinuation<Value, any Error>)
        /// Decided, but not yet delivered, also not to a task that awaits it now.
        case ending(TrackedContinuation<Value, any Error>?)
        case ended(Result<Value, any Error>)
        case heard
    }

    private let state = Locked(State.open)

    /// Decides the result. Returns false if it was decided before.
    ///
    /// - Parameter action: Runs after the decision, and before the awaiting task resumes.
    @discardableResult
    func end(_ result: Result<Value, any Error>, before action: () -> Void = {}) -> Bool {
        let isFirst = state.withLock { state in
            switch state {
            case .open: state = .ending(nil)
            case .waiting(let waiter): state = .ending(waiter)
            case .ending, .ended, .heard: return false
            }
            return true
        }
        guard isFirst else { return false }
        action()
        let waiter = state.withLock { state -> TrackedContinuation<Value, any Error>? in
            guard case .ending(let waiter?) = state else {
                state = .ended(result)
                return nil
            }
            state = .heard
            return waiter
        }
        waiter?.resume(with: result)
        return true
    }

    /// The first result, once it is there. To be asked once.
    func value(isolation: isolated (any Actor)? = #isolation) async throws -> Value {
        try await LibraryTask.waitThrowing { continuation in
            let result = state.withLock { state -> Result<Value, any Error>? in
                switch state {
                case .open:
                    state = .waiting(continuation)
                    return nil
                case .ending(nil):
                    state = .ending(continuation)
                    return nil
                case .ended(let result):
                    state = .heard
                    return result
                case .waiting, .ending, .heard:
                    return .failure(CancellationError())
                }
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
