/// The state of one call that its task, its cancellers and the tasks that await it share. Used under a lock.
///
/// Ending the call releases its handlers and its provider's input, although a provider that ignores the cancel may still
/// run.
struct CallState {
    /// Nil once the final event has been delivered or is being delivered.
    var configuration: CallConfiguration?
    var source: (any CallSource)?
    /// The share in a running request, from the admission of the call until its first attempt.
    var joinedAttempt: (any ProviderAttempt)?
    private(set) var outcome: CallOutcome?
    private(set) var task: Task<Void, Never>?
    private(set) var isCancelled = false
    private(set) var isFinished = false
    private var suspension = Suspension.none
    var outcomeWaiters = Waiters<CallOutcome?>()
    var finishWaiters = Waiters<Void>()
    /// Called when the last handler has run.
    private var finishCallbacks: [@Sendable () -> Void] = []
    private var chain: CallChain?

    /// Where the call's own task waits for its turn. A resume that comes first is kept.
    private enum Suspension: Sendable {
        case none
        case resumed
        case suspended(WatchedContinuation<Void, Never>)
    }

    init(_ source: any CallSource, _ configuration: CallConfiguration?) {
        self.source = source
        self.configuration = configuration
    }

    // MARK: The task

    /// Stores the call's task. Returns true if it has to be cancelled.
    mutating func attach(_ task: Task<Void, Never>) -> Bool {
        if !isFinished { self.task = task }
        return isCancelled
    }

    /// Returns the task to cancel, and the share in a request that the call doesn't need any more.
    mutating func cancelTask() -> (Task<Void, Never>?, (any ProviderAttempt)?) {
        isCancelled = true
        return (task, joinedAttempt.take())
    }

    /// The attempt that comes next. Nil if the call was cancelled.
    mutating func nextAttempt(in lane: LaneKey?) -> (any ProviderAttempt)? {
        guard !isCancelled, let source else { return nil }
        return joinedAttempt.take() ?? source.joinRequest(of: lane) ?? source
    }

    /// Suspends the call's task. Returns false if it was resumed before.
    mutating func suspend(_ continuation: WatchedContinuation<Void, Never>) -> Bool {
        if case .resumed = suspension {
            suspension = .none
            return false
        }
        suspension = .suspended(continuation)
        return true
    }

    mutating func resume() -> WatchedContinuation<Void, Never>? {
        guard case .suspended(let continuation) = suspension else {
            suspension = .resumed
            return nil
        }
        suspension = .none
        return continuation
    }

    // MARK: The end

    /// Stores the outcome. Returns the waiters to resume.
    mutating func decide(_ outcome: CallOutcome) -> [WatchedContinuation<CallOutcome?, Never>] {
        self.outcome = outcome
        return outcomeWaiters.removeAll()
    }

    /// Objects to release and tasks to resume outside the lock, once the last handler has run.
    struct Finish {
        fileprivate let source: (any CallSource)?
        fileprivate let waiters: [WatchedContinuation<Void, Never>]
        fileprivate let callbacks: [@Sendable () -> Void]

        func perform() {
            for waiter in waiters { waiter.resume() }
            for callback in callbacks { callback() }
        }
    }

    mutating func finish() -> Finish {
        isFinished = true
        task = nil
        defer { finishCallbacks = [] }
        return Finish(source: source.take(), waiters: finishWaiters.removeAll(), callbacks: finishCallbacks)
    }

    /// Returns false if the call has finished: the caller calls back.
    mutating func whenFinished(_ callback: @escaping @Sendable () -> Void) -> Bool {
        if !isFinished { finishCallbacks.append(callback) }
        return !isFinished
    }

    // MARK: The chain

    /// The calls before and after this one.
    var neighbors: [CallHandle] { chain?.neighbors ?? [] }

    /// True once no further calls may be chained.
    var isChainCut: Bool { chain?.isCut ?? false }

    mutating func withChain<R>(_ body: (CallChain) -> R) -> R {
        let chain = chain ?? CallChain()
        self.chain = chain
        return body(chain)
    }

    /// True while a call that repeats this call's handlers is still to be started.
    var awaitsRecall: Bool {
        guard let chain, !chain.isCut, outcome?.cancelReason == nil else { return false }
        return chain.pendingRecallCount > 0
    }
}

/// The calls that one call has started before and after itself. Made for the first of them; used under the call's lock.
final class CallChain {
    fileprivate(set) var predecessors: [CallHandle] = []
    fileprivate(set) var followers: [CallHandle] = []
    var pendingRecallCount = 0
    /// True once the predecessors are cancelled: one that is added later is cancelled too.
    private(set) var hasCancelledPredecessors = false
    /// True once the followers are cancelled: one that is added later is cancelled too.
    private(set) var isCut = false

    var neighbors: [CallHandle] { predecessors + followers }

    /// Adds a call that this one waits for. Returns true if it has to be cancelled.
    func addPredecessor(_ call: CallHandle) -> Bool {
        predecessors.append(call)
        return hasCancelledPredecessors
    }

    /// Adds a call that follows this one. Returns true if it has to be cancelled.
    func addFollower(_ call: CallHandle, isRecall: Bool) -> Bool {
        followers.append(call)
        if isRecall { pendingRecallCount -= 1 }
        return isCut
    }

    func cutFollowers() -> [CallHandle] {
        isCut = true
        return followers
    }

    func cutPredecessors() -> [CallHandle] {
        hasCancelledPredecessors = true
        return predecessors
    }

    deinit {
        guard !predecessors.isEmpty || !followers.isEmpty else { return }
        var neighbors: [CallHandle]? = neighbors
        (predecessors, followers) = ([], [])
        Unlinking.letGo(of: &neighbors)
    }
}
