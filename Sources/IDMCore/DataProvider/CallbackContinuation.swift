/// Meets one continuation with the first answer, or with a cancel, whichever comes first, in whatever order the parts
/// arrive.
final class CallbackContinuation<Output: Sendable>: Sendable {
    private typealias Continuation = WatchedContinuation<Output, any Error>

    private enum State {
        /// Nobody waits yet. Only a cancel can come now.
        case idle
        /// Somebody waits; the cancel handler has been returned or not.
        case waiting(Continuation, CancelHandler?)
        /// Cancelled before a handler was returned. If one comes, it is owed a call.
        case owesCancel
        /// Ended. Whatever comes is not heard.
        case ended
    }

    private let state = Locked(State.idle)

    /// Takes the continuation that is to be resumed. Returns false, with the continuation resumed, if the cancel came
    /// first: then nobody is to be asked.
    func wait(_ continuation: WatchedContinuation<Output, any Error>) -> Bool {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .waiting(continuation, nil)
            return true
        }
        if !isFirst { continuation.resume(throwing: CancellationError()) }
        return isFirst
    }

    /// Takes the cancel handler, and calls it if the cancel came first.
    func hold(_ handler: CancelHandler?) {
        let owed: CancelHandler? = state.withLock { state in
            switch state {
            case .waiting(let continuation, _):
                state = .waiting(continuation, handler)
                return nil
            case .owesCancel:
                state = .ended
                return handler
            case .idle, .ended:
                return nil
            }
        }
        owed?()
    }

    /// Ends the continuation with the first answer. Later ones are not heard.
    func answer(_ result: Result<Output, any Error>) {
        // The handler comes out as well: what it holds may answer when it goes, and would meet the lock.
        let (waiter, handler): (Continuation?, CancelHandler?) = state.withLock { state in
            guard case .waiting(let continuation, let handler) = state else { return (nil, nil) }
            state = .ended
            return (continuation, handler)
        }
        withExtendedLifetime(handler) {
            waiter?.resume(with: result)
        }
    }

    /// Ends the continuation with a cancel, unless it has ended.
    func cancel() {
        let (waiter, handler): (Continuation?, CancelHandler?) = state.withLock { state in
            switch state {
            case .idle:
                state = .ended
                return (nil, nil)
            case .waiting(let continuation, let handler):
                state = handler == nil ? .owesCancel : .ended
                return (continuation, handler)
            case .owesCancel, .ended:
                return (nil, nil)
            }
        }
        handler?()
        waiter?.resume(throwing: CancellationError())
    }
}
