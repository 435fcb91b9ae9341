/// One call on its way: waits for its turn, asks the provider, and tells the handlers.
///
/// A run holds what it needs of its integrator, but not the integrator. Nothing holds a run but its own task and the
/// gate, so it goes, with its handlers, when it has ended.
final class CallExecution: ScheduledCall {
    let engine: IntegratorCore
    let gate: LaneScheduler
    let source: any CallSource
    let handlers: Handlers
    /// Whether somebody hears of the run, or something comes after it. Behind the handlers there is room for it: each
    /// of thousands that wait is 16 bytes smaller.
    let isHeard: Bool
    let life = CallState()
    private let belongings: Belongings?
    let turn = HandlerTurn()

    init(
        engine: IntegratorCore, gate: LaneScheduler, source: any CallSource, plan: CallConfiguration,
        pausedBy control: PauseControl?
    ) {
        // What was handed over is kept last, and looked at before: so it isn't retained once more.
        let control = control ?? .current
        belongings =
            plan.hasExtras || control != nil || engine.sharesRequests
            ? Belongings(plan, control, sharesRequests: engine.sharesRequests) : nil
        handlers = engine.handlers(before: plan.handlers)
        isHeard = !handlers.kinds.isEmpty || plan.hasExtras
        self.engine = engine
        self.gate = gate
        self.source = source
        if let count = plan.extras?.recallCount, count > 0 { life.expectRecalls(count) }
    }

    /// What few calls have. Kept apart: thousands may wait, each smaller by what it doesn't have.
    private final class Belongings: Sendable {
        let plan: CallConfiguration?
        let control: PauseControl?
        let reservation: Reservation?

        init(_ plan: CallConfiguration, _ control: PauseControl?, sharesRequests: Bool) {
            self.plan = plan.hasExtras ? plan : nil
            self.control = control
            reservation = sharesRequests ? Reservation() : nil
        }
    }

    /// The call's plan, if there is more to it than handlers.
    var plan: CallConfiguration? { belongings?.plan }

    /// What pauses the call.
    var control: PauseControl? { belongings?.control }

    /// Its place in a request that calls share, if they do.
    private var reservation: Reservation? { belongings?.reservation }

    func wake() {
        life.wake()
    }

    func stop() {
        life.stop()
        reservation?.end()
    }

    /// Joins the request that runs, if calls share one. To be done before the run is admitted: until it asks it may
    /// have a beginning to tell on an actor that is busy, and the request ends meanwhile.
    func reserve() {
        reservation?.take(source.inquire(at: gate))
    }

    func takeOver(
        _ ticket: CallID, _ reason: CancelReason, at gate: LaneScheduler, isolation: isolated (any Actor)?
    ) {
        guard isHeard else {
            gate.finish(ticket)
            return close(.cancelled(reason))
        }
        life.settle(.cancelled(reason))
        speak(RunCancel(run: self, ticket: ticket, reason: reason), isolation: isolation)
    }

    /// Sends for who tells progress while the provider is at work.
    func sendForPump(_ ticket: CallID) {
        speak(RunPump(run: self, ticket: ticket), isolation: nil)
    }

    /// Starts work that speaks in the place of the run's own task. It is no part of what has cancelled or reported:
    /// what the handlers call pauses with this call, and its progress is nobody else's.
    private func speak(_ work: some TaskWork, isolation: isolated (any Actor)?) {
        PauseControl.rebind(to: control) {
            IntegrationProgress.Reporter.unbind {
                _ = LibraryTask.start(work, isolation: isolation)
            }
        }
    }

    /// How this run comes to the gate, unless it is turned away.
    var way: SubmissionKind {
        if plan?.isHeld == true { return .held }
        return handlers.kinds.contains(.beginning) ? .heard : .unheard
    }

    // A run that waits, and one whose provider is at work, keeps the frames of the functions it is in. A task comes
    // with room for a few hundred bytes of them, and takes a kilobyte more for the first that doesn't fit. So those are
    // small and few, and what is seldom needed has frames of its own.

    /// Takes the call from its entrance to its end.
    @inline(__always)
    func drive(_ ticket: CallID, _ entrance: AdmissionResult) async {
        if entrance == .begun {
            report(.began)
        } else {
            if entrance == .wait && way != .held {
                await waitInLine(ticket)
            } else if entrance != .start {
                await waitForTurn(ticket, entrance)
            }
            guard await begin(ticket, hasWaited: entrance != .start) else { return }
        }
        var failures = 0
        while await attempt(ticket, after: failures) { failures += 1 }
    }

    /// Asks the provider once, and tells what came of it. Returns whether it is to be asked again.
    @inline(never)
    private func attempt(_ ticket: CallID, after failures: Int) async -> Bool {
        // Cancelled between its last word and here: whoever cancelled it tells, and the provider isn't asked. The task
        // doesn't know yet if that was before it was made, so its own word for it is not enough.
        guard !life.isStopped, let inquiry = nextInquiry() else { return false }
        defer { inquiry.leave() }
        let answer: Answer
        if inquiry.isStream || handlers.kinds.contains(.progress) {
            answer = await listen(inquiry, ticket)
            if answer.isTold { return false }
        } else {
            do {
                answer = Answer(value: try await inquiry.request(), isHeard: false)
            } catch {
                answer = Answer(error, isFirst: true)
            }
        }
        if belongings != nil, mayRetry(answer, after: failures) {
            return await pause(failures + 1, answer, inquiry, ticket)
        }
        await conclude(answer, inquiry, ticket)
        return false
    }

    /// What the run has joined, or else a new one. Nil if the run is not to ask.
    @inline(__always)
    private func nextInquiry() -> (any Inquiry)? {
        guard let reservation else { return source.inquire(at: gate) }
        switch reservation.give() {
        case .joined(let inquiry): return inquiry
        case .nothing: return source.inquire(at: gate)
        case .over: return nil
        }
    }

    // MARK: Before the beginning

    @inline(never)
    private func waitForTurn(_ ticket: CallID, _ entrance: AdmissionResult) async {
        switch way == .held ? await waitForPredecessors(ticket) : entrance {
        case .start, .begun: break
        case .wait: await waitInLine(ticket)
        case .settle: await waitForQuiet(ticket)
        }
    }

    @inline(__always)
    private func waitInLine(_ ticket: CallID) async {
        // A wake may be left over from before the call was admitted, so the gate has the last word.
        repeat { await life.park() } while gate.isWaiting(ticket)
    }

    @inline(never)
    private func waitForPredecessors(_ ticket: CallID) async -> AdmissionResult {
        for predecessor in plan?.extras?.predecessors ?? [] where gate.isHeld(ticket) {
            // Started in a later turn, as a chained call is: a long chain would nest on the stack.
            turn.begin()
            let first = predecessor(#isolation) { [life] in life.wake() }
            turn.end()
            if let first { life.chain(predecessor: first) }
            await life.park()
        }
        reserve()
        return gate.admit(ticket, isolation: #isolation)
    }

    @inline(never)
    private func waitForQuiet(_ ticket: CallID) async {
        // A cancel cuts the sleep short, and is told at the beginning.
        try? await engine.clock.pause(for: engine.type.debounce)
        gate.settled(ticket)
    }

    // MARK: The provider

    /// What came of one attempt.
    struct Answer: Sendable {
        let outcome: CallState.Outcome
        /// The handlers that are still to hear of the outcome, besides those of the completion.
        let hearers: HandlerKinds
        /// Whether nothing has been heard before.
        let isFirst: Bool
        private(set) var isTold = false

        /// The only value, or the last one of a stream, which has been heard already.
        init(value: any Sendable, isHeard: Bool) {
            outcome = .success(value)
            hearers = isHeard ? [] : .success
            isFirst = !isHeard
        }

        /// An error, or the provider's own cancel.
        init(_ error: any Error, isFirst: Bool) {
            outcome = CallState.Outcome(error)
            hearers = outcome.error == nil ? .cancel : .error
            self.isFirst = isFirst
        }

        /// No answer: the end of the run is told by somebody else. An optional would take a second place in the frame.
        static var told: Answer {
            var answer = Answer(CancellationError(), isFirst: false)
            answer.isTold = true
            return answer
        }
    }

    /// Asks a provider that may have more to tell than one value.
    @inline(never)
    private func listen(_ inquiry: any Inquiry, _ ticket: CallID) async -> Answer {
        let reporter =
            handlers.kinds.contains(.progress)
            ? IntegrationProgress.Reporter(RunProgress(self, ticket)) : nil
        guard let reporter, !inquiry.isStream else { return await listen(inquiry.values(), reporter, ticket) }
        do {
            return Answer(value: try await inquiry.request(reporter: reporter), isHeard: false)
        } catch {
            return Answer(error, isFirst: true)
        }
    }

    /// Tells the values of a stream as they come.
    @inline(never)
    private func listen(
        _ values: ProviderValues<any Sendable>, _ reporter: IntegrationProgress.Reporter?, _ ticket: CallID
    ) async -> Answer {
        var iterator = values.makeAsyncIterator()
        var last: (any Sendable)?
        do {
            while let value = try await iterator.next(reportingTo: reporter) {
                last = value
                guard await tell(value: value, ticket) else { return .told }
            }
        } catch {
            return Answer(error, isFirst: last == nil)
        }
        return last.map { Answer(value: $0, isHeard: true) } ?? Answer(DataProviderError.noAnswer, isFirst: true)
    }

    /// Holds back what has come while the call is paused. A cancel ends the run meanwhile, and this wait with it. Does
    /// not suspend where nothing is paused.
    ///
    /// - Parameters:
    ///   - trip: Who has been told that the caller is under way. To hold back is to be at rest.
    ///   - inquiry: What has answered. It is left: others who ask meanwhile are not to get what is held back here.
    @inline(__always)
    func hold(_ trip: (any WorkWatch)? = nil, after inquiry: (any Inquiry)? = nil) async {
        if let control { await hold(control, trip, inquiry) }
    }

    @inline(never)
    private func hold(_ control: PauseControl, _ trip: (any WorkWatch)?, _ inquiry: (any Inquiry)?) async {
        guard control.isPaused else { return }
        inquiry?.leave()
        trip?.workArrived()
        try? await control.waitWhilePaused()
        trip?.workDeparts()
    }

    // MARK: Retries

    @inline(never)
    private func mayRetry(_ answer: Answer, after failures: Int) -> Bool {
        guard answer.isFirst, let error = answer.outcome.error else { return false }
        return plan?.extras?.retry?.allows(error, after: failures) ?? false
    }

    /// Tells of a retry and waits before it. Returns false if the run has ended meanwhile.
    @inline(never)
    private func pause(
        _ attempt: Int, _ answer: Answer, _ inquiry: any Inquiry, _ ticket: CallID
    ) async -> Bool {
        // Left before the pause: whoever joins meanwhile is not to get the failure.
        inquiry.leave()
        await hold()
        guard let error = answer.outcome.error, await tell(retry: attempt, after: error, ticket) else { return false }
        try? await plan?.extras?.retry?.pause(beforeRetry: attempt, on: engine.clock)
        guard Task.isCancelled else { return true }
        // Whoever cancelled the call while nobody spoke also tells the end. Code of the call's own may have cancelled
        // the task alone: that ends the call as a provider's cancel does.
        if !life.isStopped { await conclude(Answer(CancellationError(), isFirst: true), inquiry, ticket) }
        return false
    }
}

extension ProviderValues.Iterator {
    fileprivate mutating func next(reportingTo reporter: IntegrationProgress.Reporter?) async throws -> Element? {
        guard let reporter else { return try await next(isolation: #isolation) }
        return try await reporter.ambient { try await next(isolation: #isolation) }
    }
}

/// Takes the reports of one run. Does not hold it: a provider may keep its reporter for as long as it likes.
private final class RunProgress: ProgressListener {
    private weak let run: CallExecution?
    private let ticket: CallID
    /// Where the call that this run works for hears its progress.
    private let outer: IntegrationProgress.Reporter?

    init(_ run: CallExecution, _ ticket: CallID) {
        self.run = run
        self.ticket = ticket
        outer = IntegrationProgress.current
    }

    func hear(_ progress: IntegrationProgress) {
        outer?.send(progress)
        if let run, run.gate.voice(ticket, { $0.report(progress) }) == .wanted { run.sendForPump(ticket) }
    }
}

/// The work of a run's own task.
struct RunDrive: TaskWork {
    let run: Run
    let ticket: CallID
    let entrance: AdmissionResult

    var executor: (any TaskExecutor)? { run.engine.executor }

    func perform() async {
        await run.turn.bind { await run.drive(ticket, entrance) }
    }
}

/// The work of whoever cancels a run while its provider is at work.
private struct RunCancel: TaskWork {
    let run: Run
    let ticket: CallID
    let reason: CancelReason

    var executor: (any TaskExecutor)? { run.engine.executor }

    func perform() async {
        await run.turn.bind { await run.tellCancel(reason, hasBegun: true, ticket) }
    }
}

/// The work of telling progress while the provider is at work.
private struct RunPump: TaskWork {
    let run: Run
    let ticket: CallID

    var executor: (any TaskExecutor)? { run.engine.executor }

    func perform() async {
        await run.turn.bind { await run.pump(ticket) }
    }
}
