import Synchronization

/// The one object of a call: its configuration while it is prepared, and its outcome and waiters once it has started.
///
/// The end of the call releases its handlers and linked calls, although a provider that ignores the cancel may still run.
@usableFromInline
final class CallState: ScheduledCall, HandlerOwner {
    let source: any CallSource
    let storage: Locked<Storage>
    private let delivering = Atomic(false)

    struct Storage {
        var configuration = CallConfiguration()
        /// The configuration without the integrator's handlers, if a handler can start the call again.
        var repeatedConfiguration: CallConfiguration?
        /// The share in a running request, from the admission of the call until its first attempt.
        var joinedAttempt: (any ProviderAttempt)?
        var outcome: CallOutcome?
        var task: Task<Void, Never>?
        var isCancelled = false
        /// The task that delivers the cancellation while the provider runs.
        var cancellation = CancellationDelivery.unprepared(nil)
        /// The control that pauses the call.
        var control: PauseControl?
        var isFinished = false
        fileprivate var suspension = Suspension.none
        var outcomeWaiters = Waiters<CallOutcome?>()
        var finishWaiters = Waiters<Void>()
        /// Called when the last handler has run.
        var finishCallbacks: [@Sendable () -> Void] = []
        var chain: CallChain?
    }

    /// The delivery of a cancellation while the provider runs.
    enum CancellationDelivery: Sendable {
        /// The task hasn't been created. The reason if the call was cancelled already.
        case unprepared(CancelReason?)
        /// The task was created when the call was started, so that its handlers see the task-local values of the caller.
        case deferred(DeferredTask, CancelReason?)
        /// The task is created when it is needed.
        case immediate
    }

    /// The suspension of the call's own task. A resume that comes before the suspension is kept.
    fileprivate enum Suspension: Sendable {
        case none
        case resumed
        case suspended(TrackedContinuation<Void, Never>)
    }

    @usableFromInline
    init(_ source: any CallSource) {
        self.source = source
        storage = Locked(Storage())
    }

    init(_ source: any CallSource, _ configuration: CallConfiguration) {
        self.source = source
        storage = Locked(Storage(configuration: configuration))
    }

    deinit {
        var links = storage.withLock { $0.configuration.takeLinks() }
        if links != nil { DeferredRelease.release(&links) }
    }

    /// Reads or changes the configuration.
    func configuration<R: Sendable>(_ body: (inout CallConfiguration) -> R) -> R {
        storage.withLock { body(&$0.configuration) }
    }

    /// The control that pauses the call.
    var control: PauseControl? { storage.withLock { $0.control } }

    // MARK: The call's task

    func attach(_ task: Task<Void, Never>) {
        let isCancelled = storage.withLock { storage in
            if !storage.isFinished { storage.task = task }
            return storage.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    var isCancelled: Bool { storage.withLock { $0.isCancelled } }

    func cancelTask() {
        let (task, attempt) = storage.withLock { storage in
            storage.isCancelled = true
            return (storage.task, storage.joinedAttempt.take())
        }
        task?.cancel()
        attempt?.leave()
    }

    /// Suspends the call's task until `resume()`.
    func suspend() async {
        await LibraryTask.wait { continuation in
            let isResumed = storage.withLock { storage in
                if case .resumed = storage.suspension {
                    storage.suspension = .none
                    return true
                }
                storage.suspension = .suspended(continuation)
                return false
            }
            if isResumed { continuation.resume() }
        }
    }

    func resume() {
        let continuation: TrackedContinuation<Void, Never>? = storage.withLock { storage in
            guard case .suspended(let continuation) = storage.suspension else {
                storage.suspension = .resumed
                return nil
            }
            storage.suspension = .none
            return continuation
        }
        continuation?.resume()
    }

    func deliverCancellation(
        _ reason: CancelReason, _ id: CallID, in scheduler: LaneScheduler, isolation: isolated (any Actor)?
    ) {
        CallExecution(self, scheduler, id).deliverCancellation(reason, isolation: isolation)
    }

    // MARK: Handlers

    /// Starts the same call again.
    var repetition: CallRepetition {
        let configuration = storage.withLock { $0.repeatedConfiguration } ?? CallConfiguration()
        return { [source] isolation in
            _ = source.core.start(CallState(source, configuration), isolation: isolation)
        }
    }

    /// True while a handler of this call runs.
    var isDelivering: Bool { delivering.load(ordering: .relaxed) }

    func beginDelivering() { delivering.store(true, ordering: .relaxed) }
    func endDelivering() { delivering.store(false, ordering: .relaxed) }

    // MARK: The end

    /// Stores the outcome, and resumes the tasks that wait for it.
    func decide(_ outcome: CallOutcome) {
        let waiters = storage.withLock { storage in
            storage.outcome = outcome
            return storage.outcomeWaiters.removeAll()
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Releases the configuration, and resumes the tasks that wait for the end.
    func finish() {
        // Released outside the lock: handlers hold objects of the user.
        var configuration = CallConfiguration()
        var repeated: CallConfiguration?
        var deferred: DeferredTask?
        let (waiters, callbacks) = storage.withLock { storage in
            storage.isFinished = true
            storage.task = nil
            if case .deferred(let task, nil) = storage.cancellation { deferred = task }
            storage.cancellation = .immediate
            swap(&storage.repeatedConfiguration, &repeated)
            swap(&storage.configuration, &configuration)
            defer { storage.finishCallbacks = [] }
            return (storage.finishWaiters.removeAll(), storage.finishCallbacks)
        }
        for waiter in waiters { waiter.resume() }
        for callback in callbacks { callback() }
        var links = configuration.takeLinks()
        if links != nil { DeferredRelease.release(&links) }
        links = repeated?.takeLinks()
        if links != nil { DeferredRelease.release(&links) }
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

/// Links to other calls, to be released one after the other: a chain may be longer than the stack.
private struct ReleasedLinks: Sendable {
    let links: [CallConfiguration.Link]
    let predecessors: [CallConfiguration.Predecessor]
}

extension CallConfiguration {
    fileprivate mutating func takeLinks() -> ReleasedLinks? {
        guard isChained else { return nil }
        defer { (links, predecessors) = ([], []) }
        return ReleasedLinks(links: links, predecessors: predecessors)
    }
}
