/// Resumes one continuation with the first answer or with a cancel, whichever comes first.
final class CallbackContinuation<Output: Sendable>: Sendable {
    private typealias Continuation = TrackedContinuation<Output, any Error>

    private enum State {
        /// No continuation yet. Only a cancel can come.
        case idle
        /// The request runs, with its cancel handler once that has been returned.
        case waiting(Continuation, CancelHandler?)
        /// Cancelled before a handler was returned, which is called when it comes.
        case cancelledWithoutHandler
        case finished
    }

    private let state = Locked(State.idle)

    /// Stores the continuation. If a cancel came first, resumes the continuation and returns false: the request is not
    /// to be started.
    func wait(_ continuation: TrackedContinuation<Output, any Error>) -> Bool {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .waiting(continuation, nil)
            return true
        }
        if !isFirst { continuation.resume(throwing: CancellationError()) }
        return isFirst
    }

    /// Stores the cancel handler, or calls it if the cancel came first.
    func store(_ handler: CancelHandler?) {
        let cancelled: CancelHandler? = state.withLock { state in
            switch state {
            case .waiting(let continuation, _):
                state = .waiting(continuation, handler)
                return nil
            case .cancelledWithoutHandler:
                state = .finished
                return handler
            case .idle, .finished:
                return nil
            }
        }
        cancelled?()
    }

    /// Resumes the continuation with the first answer. Later answers are discarded.
    func finish(with result: Result<Output, any Error>) {
        // The handler is returned too: releasing what it captures may finish again, which must not happen under the
        // lock.
        let (waiter, handler): (Continuation?, CancelHandler?) = state.withLock { state in
            guard case .waiting(let continuation, let handler) = state else { return (nil, nil) }
            state = .finished
            return (continuation, handler)
        }
        withExtendedLifetime(handler) {
            waiter?.resume(with: result)
        }
    }

    /// Calls the cancel handler and resumes the continuation with `CancellationError`, unless an answer came first.
    func cancel() {
        let (waiter, handler): (Continuation?, CancelHandler?) = state.withLock { state in
            switch state {
            case .idle:
                state = .finished
                return (nil, nil)
            case .waiting(let continuation, let handler):
                state = handler == nil ? .cancelledWithoutHandler : .finished
                return (continuation, handler)
            case .cancelledWithoutHandler, .finished:
                return (nil, nil)
            }
        }
        handler?()
        waiter?.resume(throwing: CancellationError())
    }
}
