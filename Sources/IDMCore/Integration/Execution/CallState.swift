/// The part of an execution that changes, under its lock.
struct CallState: ~Copyable {
    /// Empty once the call has finished: the end of a call releases its handlers and links, although a provider that
    /// ignores the cancel may still run.
    var configuration: CallConfiguration
    /// The configuration without the integrator's handlers, if a handler can start the call again.
    var repeatedConfiguration: CallConfiguration?
    /// The share in a running request, from the admission of the call until its first attempt.
    var joinedAttempt: (any SharedAttempt)?
    /// The share in the request that runs.
    var runningAttempt: (any SharedAttempt)?
    var outcome: CallOutcome?
    var task: Task<Void, Never>?
    /// How a cancellation is delivered while the provider runs.
    var cancellation = CancellationDelivery.unprepared(nil)
    var isFinished = false
    var suspension = Suspension.none
    var outcomeWaiters = Waiters<CallOutcome?>()
    var finishWaiters = Waiters<Void>()
    /// Called when the last handler has run.
    var finishCallbacks: [@Sendable () -> Void] = []
    var chain: CallChain?

    /// The delivery of a cancellation while the provider runs.
    enum CancellationDelivery: Sendable {
        /// The task hasn't been created. The reason if the call was cancelled already.
        case unprepared(CancelReason?)
        /// The task was created when the call was started, so that its handlers see the task-local values of the caller.
        case deferred(DeferredTask, CancelReason?)
        /// The task is created when it is needed. Also after the end.
        case immediate
    }

    /// The suspension of the call's own task. A resume that comes before the suspension is kept.
    enum Suspension: Sendable {
        case none
        case resumed
        case suspended(TrackedContinuation<Void, Never>)
    }

    init(
        _ configuration: CallConfiguration, repeating repeated: CallConfiguration?, joinedAttempt: (any SharedAttempt)?
    ) {
        self.configuration = configuration
        repeatedConfiguration = repeated
        self.joinedAttempt = joinedAttempt
    }
}

extension CallExecution {
    /// Reads the configuration.
    func configuration<R: Sendable>(_ body: (CallConfiguration) -> R) -> R {
        state.withLock { body($0.configuration) }
    }

    // MARK: The call's task

    func attach(_ task: Task<Void, Never>) {
        // A call that has finished in this turn needs no lock.
        if !hasFinished {
            state.withLock { state in
                if !state.isFinished { state.task = task }
            }
        }
        // Also of a call that has finished: its provider may still run.
        if isCancelled { task.cancel() }
    }

    func cancelTask() {
        noteCancel()
        let (task, attempt) = state.withLock { ($0.task, $0.joinedAttempt.take()) }
        task?.cancel()
        attempt?.leave()
    }

    /// Suspends the call's task until `resume()`.
    func suspend() async {
        await LibraryTask.wait { continuation in
            let isResumed = state.withLock { state in
                if case .resumed = state.suspension {
                    state.suspension = .none
                    return true
                }
                state.suspension = .suspended(continuation)
                return false
            }
            if isResumed { continuation.resume() }
        }
    }

    func resume() {
        let continuation: TrackedContinuation<Void, Never>? = state.withLock { state in
            guard case .suspended(let continuation) = state.suspension else {
                state.suspension = .resumed
                return nil
            }
            state.suspension = .none
            return continuation
        }
        continuation?.resume()
    }

    // MARK: The end

    /// Starts the same call again.
    var repetition: CallRepetition {
        let configuration = state.withLock { $0.repeatedConfiguration } ?? CallConfiguration()
        return { [source] isolation in
            _ = source.core.start(source, configuration, isolation: isolation)
        }
    }

    /// Stores the outcome, and resumes the tasks that wait for it. May be called again with the same end.
    ///
    /// - Returns: The handlers.
    @discardableResult
    func storeOutcome(_ end: CallEnd, _ value: any Sendable = ()) -> HandlerList {
        let (handlers, waiters) = state.withLock { state in
            state.outcome = end.outcome(value)
            return (state.configuration.handlers.list, state.outcomeWaiters.removeAll())
        }
        waiters.forEach { $0.resume(returning: end.outcome(value)) }
        return handlers
    }

    /// Releases the configuration, and resumes the tasks that wait for the end.
    func finish() {
        // Released outside the lock: handlers hold objects of the user.
        var configuration = CallConfiguration()
        var repeated: CallConfiguration?
        var deferred: DeferredTask?
        // A call that joined a request and was cancelled before its turn hasn't left it.
        var attempt: (any SharedAttempt)?
        let (waiters, callbacks) = state.withLock { state in
            state.isFinished = true
            state.task = nil
            if case .deferred(let task, nil) = state.cancellation { deferred = task }
            state.cancellation = .immediate
            swap(&state.configuration, &configuration)
            swap(&state.repeatedConfiguration, &repeated)
            swap(&state.joinedAttempt, &attempt)
            defer { state.finishCallbacks = [] }
            return (state.finishWaiters.removeAll(), state.finishCallbacks)
        }
        noteFinish()
        attempt?.leave()
        waiters.forEach { $0.resume() }
        for callback in callbacks { callback() }
        deferred?.discard()
    }
}

/// The calls that one call has started before and after itself. Made for the first of them; used under the call's lock.
final class CallChain {
    private(set) var predecessors: [CallExecution] = []
    private(set) var followers: [CallExecution] = []
    /// True once the predecessors are cancelled: one that is added later is cancelled too.
    private(set) var hasCancelledPredecessors = false
    /// True once the followers are cancelled: one that is added later is cancelled too.
    private(set) var isCut = false

    var neighbors: [CallExecution] { predecessors + followers }

    /// Adds a call that this one waits for. Returns true if it has to be cancelled.
    func addPredecessor(_ call: CallExecution) -> Bool {
        predecessors.append(call)
        return hasCancelledPredecessors
    }

    /// Adds a call that follows this one. Returns true if it has to be cancelled.
    func addFollower(_ call: CallExecution) -> Bool {
        followers.append(call)
        return isCut
    }

    func cutFollowers() -> [CallExecution] {
        isCut = true
        return followers
    }

    func cutPredecessors() -> [CallExecution] {
        hasCancelledPredecessors = true
        return predecessors
    }

    deinit {
        guard !predecessors.isEmpty || !followers.isEmpty else { return }
        var neighbors: [CallExecution]? = neighbors
        (predecessors, followers) = ([], [])
        DeferredRelease.release(&neighbors)
    }
}
