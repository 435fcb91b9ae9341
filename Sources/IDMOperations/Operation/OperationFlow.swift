/// What an operation does next, from its first event to its end. A pure state machine.
///
/// Its call is made once: by the queue, which starts the operation, or by whoever cancels it before that. An operation
/// that is started while it pauses makes its call when it is resumed. The operation is finished when it has been
/// started and its call is over: a queue wants to start whatever it is to finish.
struct OperationFlow: Sendable {
    private enum Work: Sendable {
        case unmade
        /// The call is being made. A cancel that comes meanwhile is kept.
        case making(isCancelled: Bool)
        case made
        /// Nobody has started the operation yet.
        case over
        case finished
    }

    private var work = Work.unmade
    private(set) var isStarted = false

    /// Whether the operation has ended for its queue.
    var isFinished: Bool {
        if case .finished = work { return true }
        return false
    }

    var isExecuting: Bool { isStarted && !isFinished }

    enum Start: Sendable, Hashable {
        case makeCall
        /// The call was over before. Finish the operation.
        case finish
        /// It was started before, or waits for a resume, or for the end of its call.
        case nothing
    }

    mutating func start(isPaused: Bool) -> Start {
        let isFirst = !isStarted
        isStarted = true
        if case .over = work { return isFirst ? .finish : .nothing }
        return resume(isPaused: isPaused) ? .makeCall : .nothing
    }

    /// Returns whether the call is to be made now: the operation has been started while it paused, and no longer does.
    mutating func resume(isPaused: Bool) -> Bool {
        guard isStarted, !isPaused, case .unmade = work else { return false }
        work = .making(isCancelled: false)
        return true
    }

    enum Cancel: Sendable, Hashable {
        /// Make the call only to turn it away.
        case turnAway
        /// Cancel the call.
        case cancelCall
        /// It is noted, or too late.
        case nothing
    }

    mutating func cancel() -> Cancel {
        switch work {
        case .unmade:
            work = .making(isCancelled: false)
            return .turnAway
        case .making:
            work = .making(isCancelled: true)
            return .nothing
        case .made:
            return .cancelCall
        case .over, .finished:
            return .nothing
        }
    }

    /// The call has been made. Returns whether it is to be cancelled.
    mutating func made() -> Bool {
        guard case .making(let isCancelled) = work else { return false }
        work = .made
        return isCancelled
    }

    /// The last handler of the call has run.
    mutating func over() {
        work = isStarted ? .finished : .over
    }

    /// The operation was started after the end of its call.
    mutating func finish() {
        if case .over = work { work = .finished }
    }
}
