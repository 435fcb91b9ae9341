import Synchronization

/// One execution of a call: waits for its turn, asks the provider and delivers events to the handlers.
///
/// Only its own task, its scheduler and the ``IntegrationTask`` hold an execution.
final class CallExecution: ScheduledCall {
    let core: IntegratorCore
    let scheduler: LaneScheduler
    /// The control that pauses the call.
    let control: PauseControl?
    /// The handlers and links that a call has, to skip work for those it doesn't have.
    let traits: Traits
    let state: Locked<CallState>
    private let delivering = Atomic(false)

    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8

        static let begin = Traits(rawValue: 1)
        static let progress = Traits(rawValue: 2)
        static let observers = Traits(rawValue: 4)
        static let retry = Traits(rawValue: 8)
        static let held = Traits(rawValue: 16)
        /// Code of the user runs at the end of the call.
        static let end = Traits(rawValue: 32)

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(_ contents: borrowing CallConfiguration.Contents) {
            self = []
            if !contents.handlers.begin.isEmpty { insert(.begin) }
            if !contents.handlers.progress.isEmpty { insert(.progress) }
            if !contents.handlers.observers.isEmpty { insert(.observers) }
            if contents.retry != nil { insert(.retry) }
            if !contents.predecessors.isEmpty { insert(.held) }
            let hasEnd = !contents.handlers.cancel.isEmpty || !contents.handlers.completion.isEmpty
            if hasEnd || !contents.links.isEmpty { insert(.end) }
        }
    }

    /// Reads the configuration. Nil if there is none, or if the final event is being delivered.
    func configured<R: Sendable>(_ body: (inout CallConfiguration.Contents) -> R) -> R? {
        state.withLock { $0.configuration }?.read(body)
    }

    init(
        core: IntegratorCore, scheduler: LaneScheduler, source: any CallSource, configuration: CallConfiguration?
    ) {
        self.core = core
        self.scheduler = scheduler
        control = .current
        traits = configuration?.read { Traits($0) } ?? []
        state = Locked(CallState(source, configuration))
        if let count = configuration?.read({ $0.recallCount }), count > 0 {
            state.withLock { $0.withChain { $0.pendingRecallCount = count } }
        }
    }

    var submissionKind: SubmissionKind {
        if traits.contains(.held) { return .held }
        return traits.contains(.begin) ? .observed : .unobserved
    }

    /// Joins the running request, if calls share requests. Done before the call is admitted: the request may end while
    /// the begin event waits for a busy actor.
    func joinRequest() {
        guard core.type.isJoining else { return }
        state.withLock { state in
            state.joinedAttempt = state.source?.joinRequest(of: scheduler.lane)
        }
    }

    // MARK: The call's task

    func attach(_ task: Task<Void, Never>) {
        if state.withLock({ $0.attach(task) }) { task.cancel() }
    }

    func cancelTask() {
        let (task, attempt) = state.withLock { $0.cancelTask() }
        task?.cancel()
        attempt?.leave()
    }

    func resume() {
        state.withLock { $0.resume() }?.resume()
    }

    /// Suspends the call's task until `resume()`.
    func suspend() async {
        await LibraryTask.wait { continuation in
            if !state.withLock({ $0.suspend(continuation) }) { continuation.resume() }
        }
    }

    /// Waits in line. A separate step before `run`: thousands of calls may wait, and each keeps the frames that it is in.
    func waitInLine(_ id: CallID) async {
        // A resume may be left over from before the call was admitted.
        repeat { await suspend() } while scheduler.isWaiting(id)
    }

    /// Takes the call from its admission to its end.
    func run(_ id: CallID, _ admission: AdmissionResult) async {
        if admission == .started {
            report(.began)
        } else {
            if traits.contains(.held) || admission == .debounce { await waitToStart(id) }
            guard await deliverBegin(id, hasWaited: admission != .start) else { return }
        }
        var failureCount = 0
        while let answer = await answer(id) {
            if traits.contains(.retry), let error = retriedError(answer, after: failureCount) {
                answer.attempt.leave()
                failureCount += 1
                guard await pause(beforeRetry: failureCount, after: error, id) else { return }
            } else {
                return await deliver(answer, id)
            }
        }
    }

    /// Waits for predecessors and for the debounce interval.
    private func waitToStart(_ id: CallID) async {
        switch traits.contains(.held) ? await waitForPredecessors(id) : .debounce {
        case .start, .started: break
        case .wait: await waitInLine(id)
        case .debounce:
            // A cancel ends the sleep. The cancellation is delivered in place of the begin event.
            try? await core.clock.pause(for: core.type.debounce)
            scheduler.endDebounce(id)
        }
    }

    private func waitForPredecessors(_ id: CallID) async -> AdmissionResult {
        let predecessors = configured { $0.predecessors } ?? []
        for predecessor in predecessors where scheduler.isHeld(id) {
            // Started in a later turn: a long chain of calls would nest on the stack.
            let call = whileDelivering { predecessor(#isolation) { [self] in resume() } }
            if let call { add(predecessor: call) }
            await suspend()
        }
        if scheduler.isHeld(id) { joinRequest() }
        return scheduler.admit(id, isolation: #isolation)
    }

    // MARK: Attempts

    /// The answer of one attempt.
    struct Answer: Sendable {
        let outcome: CallOutcome
        /// Left before the answer is delivered: a call that joins the request later must not get this answer.
        let attempt: any ProviderAttempt
        /// True if the value of the outcome has been delivered: it is the last of a stream.
        var isDelivered = false
        /// True if the attempt delivered nothing, so that it can be retried.
        var isFirst = true
    }

    /// Asks the provider once. Returns nil if the call has ended.
    private func answer(_ id: CallID) async -> Answer? {
        guard let attempt = state.withLock({ $0.nextAttempt(in: scheduler.lane) }) else { return nil }
        if attempt.isStream || traits.contains(.progress) { return await observeAnswer(of: attempt, id) }
        do {
            return Answer(outcome: .success(try await attempt.request()), attempt: attempt)
        } catch {
            return Answer(outcome: CallOutcome(error), attempt: attempt)
        }
    }

    /// Asks a provider that reports progress or more than one value. Returns nil if the call has ended.
    private func observeAnswer(of attempt: any ProviderAttempt, _ id: CallID) async -> Answer? {
        let reporter = traits.contains(.progress) ? IntegrationProgress.Reporter(CallProgress(self, id)) : nil
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
                guard await deliver(value: value, id) else {
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
            let rule = configured({ $0.retry }) ?? nil, rule.allows(error, after: failureCount)
        else { return nil }
        return error
    }

    /// Delivers a retry event and waits for the delay. Returns false if the call has ended.
    private func pause(beforeRetry number: Int, after error: any Error, _ id: CallID) async -> Bool {
        await waitWhilePaused()
        guard await deliver(retry: number, after: error, id) else { return false }
        let rule = configured { $0.retry } ?? nil
        try? await rule?.pause(beforeRetry: number, on: core.clock)
        guard Task.isCancelled else { return true }
        // A canceller of the call delivers the cancellation. The provider may also have cancelled the task alone.
        if !state.withLock({ $0.isCancelled }) {
            await deliver(end: CallOutcome(CancellationError()), id)
        }
        return false
    }

    // MARK: Observers and handlers

    /// True while a handler of this call runs.
    var isDelivering: Bool { delivering.load(ordering: .relaxed) }

    /// Marks the code as a handler, see ``HandlerContext``.
    func whileDelivering<R>(_ body: () -> R) -> R {
        beginDelivering()
        defer { endDelivering() }
        return body()
    }

    func beginDelivering() { delivering.store(true, ordering: .relaxed) }
    func endDelivering() { delivering.store(false, ordering: .relaxed) }

    @inline(__always)
    func report(_ event: @autoclosure () -> CallLifecycle) {
        if traits.contains(.observers) {
            report(event(), to: configured { $0.handlers.observers } ?? [])
        }
    }

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
    private weak let execution: CallExecution?
    private let id: CallID
    /// The reporter of the call in whose provider this call was made.
    private let outer: IntegrationProgress.Reporter?

    init(_ execution: CallExecution, _ id: CallID) {
        self.execution = execution
        self.id = id
        outer = IntegrationProgress.current
    }

    func hear(_ progress: IntegrationProgress) {
        outer?.send(progress)
        guard let execution else { return }
        if execution.scheduler.deliver(id, { $0.submit(progress) }) == .schedulePump {
            execution.scheduleProgressDelivery(id)
        }
    }
}

/// The work of a call's own task.
struct CallTaskWork: TaskWork {
    let execution: CallExecution
    let id: CallID
    let admission: AdmissionResult

    var executor: (any TaskExecutor)? { execution.core.executor }

    func perform() async {
        if admission == .wait && !execution.traits.contains(.held) { await execution.waitInLine(id) }
        await HandlerContext.bind(execution) { await execution.run(id, admission) }
    }
}
