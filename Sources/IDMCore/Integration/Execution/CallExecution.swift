/// One execution of a call: waits for its turn, asks the provider and delivers events to the handlers.
struct CallExecution: Sendable {
    let call: CallState
    let scheduler: LaneScheduler
    let id: CallID
    /// The control that pauses the call.
    let control: PauseControl?
    let traits: Traits

    var core: IntegratorCore { call.source.core }

    /// The handlers and links that a call has, to skip work for those it doesn't have.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8

        static let begin = Traits(rawValue: 1)
        static let progress = Traits(rawValue: 2)
        static let observers = Traits(rawValue: 4)
        static let retry = Traits(rawValue: 8)
        static let held = Traits(rawValue: 16)
        static let followed = Traits(rawValue: 32)
        /// Code of the user runs when the call is cancelled.
        static let end = Traits(rawValue: 64)

        var submissionKind: SubmissionKind {
            if contains(.held) { return .held }
            return contains(.begin) ? .observed : .unobserved
        }

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(_ configuration: inout CallConfiguration) {
            self = []
            if !configuration.handlers.begin.isEmpty { insert(.begin) }
            if !configuration.handlers.progress.isEmpty { insert(.progress) }
            if !configuration.handlers.observers.isEmpty { insert(.observers) }
            if configuration.retry != nil { insert(.retry) }
            if !configuration.predecessors.isEmpty { insert(.held) }
            if !configuration.links.isEmpty { insert([.followed, .end]) }
            if !configuration.handlers.cancel.isEmpty || !configuration.handlers.completion.isEmpty { insert(.end) }
        }
    }

    init(_ call: CallState, _ scheduler: LaneScheduler, _ id: CallID) {
        self.init(call, scheduler, id, call.configuration { Traits(&$0) }, call.control)
    }

    init(
        _ call: CallState, _ scheduler: LaneScheduler, _ id: CallID, _ traits: Traits, _ control: PauseControl?
    ) {
        self.call = call
        self.scheduler = scheduler
        self.id = id
        self.traits = traits
        self.control = control
    }

    // MARK: The call's task

    /// Waits in line. A separate step before `run`: thousands of calls may wait, and each keeps the frames that it is in.
    func waitInLine() async {
        // A resume may be left over from before the call was admitted.
        repeat { await call.suspend() } while scheduler.isWaiting(id)
    }

    /// Takes the call from its admission to its end.
    func run(_ admission: AdmissionResult) async {
        if admission == .started {
            report(.began)
        } else {
            if traits.contains(.held) || admission == .debounce { await waitToStart() }
            guard await deliverBegin(hasWaited: admission != .start) else { return }
        }
        var failureCount = 0
        while let answer = await answer() {
            if traits.contains(.retry), let error = retriedError(answer, after: failureCount) {
                answer.attempt?.leave()
                failureCount += 1
                guard await pause(beforeRetry: failureCount, after: error) else { return }
            } else {
                return await deliver(answer)
            }
        }
    }

    /// Waits for predecessors and for the debounce interval.
    private func waitToStart() async {
        switch traits.contains(.held) ? await waitForPredecessors() : .debounce {
        case .start, .started: break
        case .wait: await waitInLine()
        case .debounce:
            // A cancelled call delivers its cancellation in place of the begin event.
            await core.waitForInterval(in: scheduler.lane)
            scheduler.endDebounce(id)
        }
    }

    private func waitForPredecessors() async -> AdmissionResult {
        for predecessor in call.configuration({ $0.predecessors }) where scheduler.isHeld(id) {
            // Started in a later turn: a long chain of calls would nest on the stack.
            call.beginDelivering()
            let other = predecessor(#isolation) { [call] in call.resume() }
            call.endDelivering()
            if let other { call.add(predecessor: other) }
            await call.suspend()
        }
        if scheduler.isHeld(id) { call.joinRequest(of: scheduler.lane) }
        return scheduler.admit(id, isolation: #isolation)
    }

    // MARK: Attempts

    /// The answer of one attempt.
    struct Answer: Sendable {
        let outcome: CallOutcome
        /// Left before the answer is delivered: a call that joins the request later must not get this answer.
        var attempt: (any ProviderAttempt)?
        /// True if the value of the outcome has been delivered: it is the last of a stream.
        var isDelivered = false
        /// True if the attempt delivered nothing, so that it can be retried.
        var isFirst = true
    }

    /// Asks the provider once. Returns nil if the call has ended.
    private func answer() async -> Answer? {
        guard let attempt = call.nextAttempt(of: scheduler.lane) else { return nil }
        if attempt.isStream || traits.contains(.progress) { return await observeAnswer(of: attempt) }
        do {
            return Answer(outcome: .success(try await attempt.request()), attempt: attempt)
        } catch {
            return Answer(outcome: CallOutcome(error), attempt: attempt)
        }
    }

    /// Asks a provider that reports progress or more than one value. Returns nil if the call has ended.
    private func observeAnswer(of attempt: any ProviderAttempt) async -> Answer? {
        let reporter = traits.contains(.progress) ? IntegrationProgress.Reporter(CallProgress(self)) : nil
        guard attempt.isStream else {
            do {
                let value =
                    if let reporter { try await reporter.ambient { try await attempt.request() } } else {
                        try await attempt.request()
                    }
                return Answer(outcome: .success(value), attempt: attempt)
            } catch {
                return Answer(outcome: CallOutcome(error), attempt: attempt)
            }
        }
        var iterator = attempt.values().makeAsyncIterator()
        var last: (any Sendable)?
        do {
            while let value = try await iterator.next(reportingTo: reporter) {
                last = value
                guard await deliver(value: value) else {
                    attempt.leave()
                    return nil
                }
            }
        } catch {
            return Answer(outcome: CallOutcome(error), attempt: attempt, isFirst: last == nil)
        }
        guard let last else { return Answer(outcome: CallOutcome(DataProviderError.noAnswer), attempt: attempt) }
        return Answer(outcome: .success(last), attempt: attempt, isDelivered: true, isFirst: false)
    }

    private func retriedError(_ answer: Answer, after failureCount: Int) -> (any Error)? {
        guard answer.isFirst, let error = answer.outcome.error,
            let rule = call.configuration({ $0.retry }), rule.allows(error, after: failureCount)
        else { return nil }
        return error
    }

    /// Delivers a retry event and waits for the delay. Returns false if the call has ended.
    private func pause(beforeRetry number: Int, after error: any Error) async -> Bool {
        await waitWhilePaused()
        guard await deliver(retry: number, after: error) else { return false }
        let rule = call.configuration { $0.retry }
        try? await rule?.pause(beforeRetry: number, on: core.clock)
        guard Task.isCancelled else { return true }
        // A canceller of the call delivers the cancellation. The provider may also have cancelled the task alone.
        if !call.isCancelled {
            await deliver(Answer(outcome: CallOutcome(CancellationError())))
        }
        return false
    }

    // MARK: Observers

    @inline(__always)
    func report(_ event: @autoclosure () -> CallLifecycle) {
        if traits.contains(.observers) { call.report(event()) }
    }
}

extension CallState {
    /// Joins the running request, if calls share requests. Done before the call is admitted: the request may end while
    /// the begin event waits for a busy actor.
    func joinRequest(of lane: LaneKey?) {
        guard source.core.type.isJoining else { return }
        storage.withLock { $0.joinedAttempt = source.joinRequest(of: lane) }
    }

    /// Returns the attempt that comes next. Nil if the call was cancelled.
    fileprivate func nextAttempt(of lane: LaneKey?) -> (any ProviderAttempt)? {
        let (joined, isCancelled) = storage.withLock { ($0.joinedAttempt.take(), $0.isCancelled) }
        return isCancelled ? nil : joined ?? source.joinRequest(of: lane) ?? source
    }

    func report(_ event: CallLifecycle) {
        for observer in configuration({ $0.handlers.observers }) {
            observer.callDidChange(event, of: ObjectIdentifier(self))
        }
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
    private weak let call: CallState?
    private let scheduler: LaneScheduler
    private let id: CallID
    /// The reporter of the call in whose provider this call was made.
    private let outer: IntegrationProgress.Reporter?

    init(_ execution: CallExecution) {
        call = execution.call
        scheduler = execution.scheduler
        id = execution.id
        outer = IntegrationProgress.current
    }

    func hear(_ progress: IntegrationProgress) {
        outer?.send(progress)
        guard let call, scheduler.deliver(id, { $0.submit(progress) }) == .schedulePump else { return }
        CallExecution(call, scheduler, id).scheduleProgressDelivery()
    }
}

/// The work of a call's own task.
struct CallTaskWork: TaskWork {
    let execution: CallExecution
    let admission: AdmissionResult

    var executor: (any TaskExecutor)? { execution.core.executor }

    func perform() async {
        if admission == .wait && !execution.traits.contains(.held) { await execution.waitInLine() }
        await HandlerContext.bind(execution.call) { await execution.run(admission) }
    }
}
