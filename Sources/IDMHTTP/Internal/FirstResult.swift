internal import IDMCore

/// The first of several results, for one who waits. Whatever comes later isn't heard.
final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(WatchedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
        case heard
    }

    private let state = Locked(State.open)

    /// Ends it. False if it has ended before.
    ///
    /// - Parameter action: Happens if it hasn't: once this is decided, and before the one who waits hears of it.
    @discardableResult
    func end(_ result: Result<Value, any Error>, before action: () -> Void = {}) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, WatchedContinuation<Value, any Error>?) in
            switch state {
            case .open:
                state = .ended(result)
                return (true, nil)
            case .waiting(let waiter):
                state = .heard
                return (true, waiter)
            case .ended, .heard:
                return (false, nil)
            }
        }
        if isFirst { action() }
        waiter?.resume(with: result)
        return isFirst
    }

    /// The first result, once it is there. To be asked once.
    func value(isolation: isolated (any Actor)? = #isolation) async throws -> Value {
        try await LibraryTask.waitThrowing { continuation in
            let result = state.withLock { state -> Result<Value, any Error>? in
                switch state {
                case .open:
                    state = .waiting(continuation)
                    return nil
                case .ended(let result):
                    state = .heard
                    return result
                case .waiting, .heard:
                    return .failure(CancellationError())
                }
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
