import Synchronization

/// One execution of a call, and the one object that it makes: waits in its lane, asks the provider and delivers events to
/// the handlers.
final class CallExecution: ScheduledCall {
    let source: any CallSource
    let core: IntegratorCore
    let scheduler: LaneScheduler
    let id: CallID
    let traits: Traits
    /// The control that pauses the call.
    let control: PauseControl?
    /// The call for its observers, if it has any: known before its admission.
    let identity: CallIdentity?
    let state: Locked<CallState>
    private let cancelled = Atomic(false)
    private let finished = Atomic(false)

    init(
        _ source: any CallSource, _ core: IntegratorCore, _ scheduler: LaneScheduler, _ id: CallID, _ traits: Traits,
        _ control: PauseControl?, _ identity: CallIdentity?, _ state: consuming sending CallState
    ) {
        self.source = source
        self.core = core
        self.scheduler = scheduler
        self.id = id
        self.traits = traits
        self.control = control
        self.identity = identity
        self.state = Locked(state)
    }

    /// True once the call's task is cancelled by a cancel of the call.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func noteCancel() { cancelled.store(true, ordering: .relaxed) }

    /// True once the last handler has run.
    var hasFinished: Bool { finished.load(ordering: .relaxed) }

    func noteFinish() { finished.store(true, ordering: .relaxed) }

    /// The handlers and links that a call has, to skip work for those it doesn't have.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt16

        static let begin = Traits(rawValue: 1)
        static let progress = Traits(rawValue: 2)
        static let observers = Traits(rawValue: 4)
        static let retry = Traits(rawValue: 8)
        static let held = Traits(rawValue: 16)
        static let followed = Traits(rawValue: 32)
        /// Code of the user runs when the call is cancelled.
        static let runsCodeOnCancel = Traits(rawValue: 64)
        /// Every handler runs on the actor that the call's task starts on, and no control can pause the call: its turns
        /// need no change of actors.
        static let inPlace = Traits(rawValue: 128)

        var submissionKind: SubmissionKind {
            if contains(.held) { return .held }
            return contains(.begin) ? .withBegin : .withoutBegin
        }

        init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        init(_ configuration: CallConfiguration, isPausable: Bool, startsOn actor: (any Actor)?) {
            self = []
            let events = configuration.handlers.events
            if events.contains(.begin) { insert(.begin) }
            if events.contains(.progress) { insert(.progress) }
            if configuration.hasOptions {
                let options = configuration.options
                if options.retry != nil { insert(.retry) }
                if !options.observers.isEmpty { insert(.observers) }
                if !options.predecessors.isEmpty { insert(.held) }
                if !options.followers.isEmpty { insert([.followed, .runsCodeOnCancel]) }
            }
            if !events.isDisjoint(with: [.cancel, .completion]) { insert(.runsCodeOnCancel) }
            if !isPausable && configuration.handlers.areAll(on: actor) { insert(.inPlace) }
        }
    }

    // MARK: The call's task

    /// Waits in the queue. A separate step before `run`: thousands of calls may wait, and each keeps the frames that it is in.
    @inline(never)
    func waitInQueue() async {
        // A resume may be left over from the wait for a predecessor.
        repeat { await suspend() } while scheduler.isWaiting(id)
    }

    /// Runs the call after its wait in the queue.
    ///
    /// Parts that few calls need are separate functions that are not inlined: this function's frame is kept until the end.
    func run(_ admission: AdmissionResult) async {
        let here = currentIsolation()
        if admission == .started {
            report(.began)
        } else {
            guard await begin(after: admission, here: here) else { return }
        }
        var value: any Sendable = ()
        var failureCount = 0
        while let end = await askProvider(&value) {
            if traits.contains(.retry), case .failure(let error, mayRetry: true) = end {
                switch await retry(after: error, &failureCount) {
                case .proceed: continue
                case .ended: return
                case .refuse: break
                }
            }
            return await deliver(end, value, here: here)
        }
    }

    @inline(__always)
    private func begin(after admission: AdmissionResult, here: (any Actor)?) async -> Bool {
        if traits.contains(.inPlace), !traits.contains(.held), admission != .debounce {
            return await beginTurn(here: here) == .proceed
        }
        return await beginElsewhere(after: admission)
    }

    @inline(never)
    private func beginElsewhere(after admission: AdmissionResult) async -> Bool {
        if traits.contains(.held) || admission == .debounce { await waitToStart() }
        return await deliverBegin(mayPause: admission != .start)
    }

    /// Waits for predecessors and for the debounce interval.
    private func waitToStart() async {
        switch traits.contains(.held) ? await waitForPredecessors() : .debounce {
        case .start, .started: break
        case .wait: await waitInQueue()
        case .debounce:
            // A cancelled call delivers its cancellation in place of the begin event.
            await core.waitForInterval(in: scheduler.lane)
            scheduler.endDebounce(id)
        }
    }

    private func waitForPredecessors() async -> AdmissionResult {
        for predecessor in configuration({ $0.options.predecessors }) where scheduler.isHeld(id) {
            // Started in a later turn: a long chain of calls would nest on the stack.
            HandlerContext.enter(#isolation)
            let other = predecessor(#isolation) { [self] in resume() }
            HandlerContext.leave(#isolation)
            if let other { add(predecessor: other) }
            await suspend()
        }
        if scheduler.isHeld(id) { joinRequest() }
        return scheduler.admit(id, isolation: #isolation)
    }

    // MARK: Attempts

    /// Asks the provider once. Returns nil if the call has ended.
    ///
    /// - Parameter value: Set to the value of a success.
    @inline(__always)
    private func askProvider(_ value: inout any Sendable) async -> CallEnd? {
        guard !core.type.isJoining, !traits.contains(.progress), !source.isStream else {
            return await askProviderInSteps(&value)
        }
        guard !isCancelled else { return nil }
        do {
            value = try await source.request()
            return .success(isDelivered: false)
        } catch {
            return CallEnd(error)
        }
    }

    /// Asks the provider of a call that has progress handlers, is a stream or shares requests. Returns nil if the call has
    /// ended.
    private func askProviderInSteps(_ value: inout any Sendable) async -> CallEnd? {
        let shared = core.type.isJoining ? beginSharedAttempt() : nil
        guard !isCancelled else {
            leaveAttempt()
            return nil
        }
        let attempt: any ProviderAttempt = shared ?? source
        let reporter = traits.contains(.progress) ? IntegrationProgress.Reporter(CallProgress(self)) : nil
        var hasDelivered = false
        do {
            guard attempt.isStream else {
                value =
                    if let reporter { try await reporter.ambient { try await attempt.request() } } else {
                        try await attempt.request()
                    }
                return .success(isDelivered: false)
            }
            var iterator = attempt.values().makeAsyncIterator()
            while let next = try await iterator.next(reportingTo: reporter) {
                hasDelivered = true
                value = next
                guard await deliver(next) else {
                    leaveAttempt()
                    return nil
                }
            }
        } catch {
            return CallEnd(error, mayRetry: !hasDelivered)
        }
        return hasDelivered ? .success(isDelivered: true) : .failure(DataProviderError.noAnswer)
    }

    private enum Retry {
        case proceed
        /// The error is the call's.
        case refuse
        /// The call has ended.
        case ended
    }

    /// Delivers a retry event and waits for the delay, if the call's rule allows a retry.
    @inline(never)
    private func retry(after error: any Error, _ failureCount: inout Int) async -> Retry {
        guard let rule = configuration({ $0.options.retry }), rule.allows(error, after: failureCount) else {
            return .refuse
        }
        failureCount += 1
        leaveAttempt()
        await waitWhilePaused()
        guard await deliver(retry: failureCount, after: error) else { return .ended }
        try? await rule.pause(beforeRetry: failureCount, on: core.clock)
        guard Task.isCancelled else { return .proceed }
        // A canceller of the call delivers the cancellation. The provider may also have cancelled the task alone.
        if !isCancelled { await deliver(.cancelled(.cancelled), here: currentIsolation()) }
        return .ended
    }

    /// Joins the running request, if calls share requests. Done before the call is admitted: the request may end while
    /// the begin event waits for a busy actor.
    private func joinRequest() {
        guard core.type.isJoining else { return }
        let attempt = source.joinRequest(of: scheduler.lane)
        state.withLock { $0.joinedAttempt = attempt }
    }

    /// Takes the share that was joined with the admission, or joins the request now.
    private func beginSharedAttempt() -> (any SharedAttempt)? {
        let joined = state.withLock { $0.joinedAttempt.take() }
        let attempt = joined ?? (isCancelled ? nil : source.joinRequest(of: scheduler.lane))
        state.withLock { $0.runningAttempt = attempt }
        return attempt
    }

    /// Leaves a request that other calls share. Called before the answer is delivered: a call that joins the request later
    /// must not get the same answer.
    func leaveAttempt() {
        guard core.type.isJoining else { return }
        state.withLock { $0.runningAttempt.take() }?.leave()
    }

    // MARK: Observers

    @inline(__always)
    func report(_ event: @autoclosure () -> CallLifecycle) {
        if traits.contains(.observers) { reportToObservers(event()) }
    }

    @inline(never)
    private func reportToObservers(_ event: CallLifecycle) {
        identity?.report(event, to: configuration { $0.options.observers })
    }
}

/// Identifies a call for its observers.
final class CallIdentity: Sendable {
    func report(_ event: CallLifecycle, to observers: [any CallObserver]) {
        for observer in observers { observer.callDidChange(event, of: ObjectIdentifier(self)) }
    }
}

extension ProviderValues.Iterator {
    fileprivate mutating func next(reportingTo reporter: IntegrationProgress.Reporter?) async throws -> Element? {
        guard let reporter else { return try await next(isolation: #isolation) }
        return try await reporter.ambient { try await next(isolation: #isolation) }
    }
}

/// Takes the progress of one call. Doesn't hold the call: a provider may keep its reporter for any time.
private final class CallProgress: ProgressListener {
    private weak let call: CallExecution?
    /// The reporter of the call in whose provider this call was made.
    private let outer: IntegrationProgress.Reporter?

    init(_ call: CallExecution) {
        self.call = call
        outer = IntegrationProgress.current
    }

    func hear(_ progress: IntegrationProgress) {
        outer?.send(progress)
        guard let call, call.scheduler.updateDelivery(call.id, { $0.submit(progress) }) == .schedulePump else { return }
        call.scheduleProgressDelivery()
    }
}

/// The work of a call's own task.
struct CallTaskWork: TaskWork {
    let execution: CallExecution
    let admission: AdmissionResult

    var executor: (any TaskExecutor)? { execution.core.executor }

    func perform() async {
        if admission == .wait && !execution.traits.contains(.held) { await execution.waitInQueue() }
        await execution.run(admission)
    }
}
