/// How it goes with requests that run side by side: how many still run, and whether they have failed or were cancelled
/// together. What comes out of an event is the way to cancel them all, to be called outside of the lock.
struct RequestFate {
    typealias Cancel = @Sendable () -> Void

    private enum State {
        /// Requests are being started.
        case starting
        /// All have been started.
        case running(cancel: Cancel)
        /// One has failed, or all were cancelled.
        case over(failure: (any Error)?)
    }

    private var state = State.starting
    private var runningCount = 0

    /// The first failure, if there is one.
    var failure: (any Error)? {
        if case .over(let failure) = state { failure } else { nil }
    }

    /// Whether all that were started have answered.
    var isFulfilled: Bool {
        if case .over = state { false } else { runningCount == 0 }
    }

    /// One is about to ask its provider. False if it is too late: its task counts as cancelled already.
    mutating func begin() -> Bool {
        if case .over = state { return false }
        runningCount += 1
        return true
    }

    /// One has ended, and not with a failure of all.
    mutating func end() {
        runningCount -= 1
    }

    /// One has failed, and with it all.
    mutating func fail(_ error: any Error) -> Cancel? {
        switch state {
        case .starting:
            state = .over(failure: error)
            return nil
        case .running(let cancel):
            state = .over(failure: error)
            return cancel
        case .over(let failure):
            state = .over(failure: failure ?? error)
            return nil
        }
    }

    /// All have been started, and this is how to cancel them.
    mutating func run(_ cancel: @escaping Cancel) -> Cancel? {
        if case .over = state { return cancel }
        state = .running(cancel: cancel)
        return nil
    }

    /// All are cancelled from outside.
    mutating func cancel() -> Cancel? {
        switch state {
        case .starting:
            state = .over(failure: nil)
            return nil
        case .running(let cancel):
            state = .over(failure: nil)
            return cancel
        case .over:
            return nil
        }
    }
}
