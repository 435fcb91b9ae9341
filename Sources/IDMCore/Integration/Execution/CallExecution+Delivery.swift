/// Delivery of events: one at a time, each on the actor on which its handler was written.
///
/// In a turn on the actor of the first handler, the delivery state machine is asked whether the event may still be
/// delivered, and the handler is called without a suspension in between.
extension CallExecution {
    /// The result of a turn on a handler's actor.
    enum Turn {
        /// The event was delivered, and the provider is next.
        case proceed
        /// Nothing was delivered: the call is paused. The turn is repeated after the pause.
        case paused
        /// The call has ended, or another party delivers its end.
        case ended
    }

    /// True if a turn has to wait. A cancelled task doesn't wait: its turn ends the call.
    var isPaused: Bool {
        guard let control else { return false }
        return control.isPaused && !Task.isCancelled
    }

    /// Waits while the call is paused. A cancel ends the wait.
    func waitWhilePaused() async {
        if let control { try? await control.waitWhilePaused() }
    }

    // MARK: Turns

    /// Delivers the begin event. Returns false if the call has ended instead.
    ///
    /// - Parameter mayPause: False for a call that was admitted when it was made: it begins, also if it is paused.
    func deliverBegin(mayPause: Bool) async -> Bool {
        await takeTurn(.began, mayPause: mayPause) { await self.beginTurn(here: $0) }
    }

    /// Delivers a value of a stream. Returns false if the call has ended instead.
    func deliver(_ value: any Sendable) async -> Bool {
        guard await beginDelivery() else { return false }
        return await takeTurn(.value) { await self.valueTurn(value, here: $0) }
    }

    /// Ends the call with an answer, or with the cancellation that came before.
    ///
    /// - Parameter here: The caller's actor.
    @inline(__always)
    func deliver(_ end: CallEnd, _ value: any Sendable = (), here: (any Actor)?) async {
        if traits.contains(.inPlace), !traits.contains(.progress) {
            _ = await endTurn(end, value, here: here)
        } else {
            await deliverElsewhere(end, value)
        }
    }

    @inline(never)
    private func deliverElsewhere(_ end: CallEnd, _ value: any Sendable) async {
        // Without progress handlers there is no pump to wait for. The commit notices a canceller.
        if traits.contains(.progress) {
            guard await beginDelivery() else { return leaveAttempt() }
        }
        _ = await takeTurn(.ended(end)) { await self.endTurn(end, value, here: $0) }
    }

    /// Takes a turn on the actor of the first handler of an event, after the pause if the call is paused. Returns false if
    /// the call has ended in that turn.
    @inline(never)
    private func takeTurn(
        _ event: CallEvent, mayPause: Bool = true,
        _ turn: @Sendable (isolated (any Actor)?) async -> Turn
    ) async -> Bool {
        let isolation = configuration { $0.handlers.list.isolation(of: event) }
        while true {
            let result = await LibraryTask.run(on: isolation == nil ? currentIsolation() : isolation?.actor) { actor in
                if mayPause, isPaused, postpone(event) { return Turn.paused }
                return await turn(actor)
            }
            guard result == .paused else { return result == .proceed }
            if case .ended = event { leaveAttempt() }
            await waitWhilePaused()
        }
    }

    /// Lets other calls start before a paused call. Returns false if the turn is to end the call.
    private func postpone(_ event: CallEvent) -> Bool {
        guard case .began = event else { return true }
        guard scheduler.updateDelivery(id, { $0.canStart }) == true else { return false }
        scheduler.postponeStart(id)
        return true
    }

    func beginTurn(here: (any Actor)?) async -> Turn {
        switch scheduler.start(id, hasBeginHandler: traits.contains(.begin)) {
        case .proceed:
            report(.began)
            guard traits.contains(.begin) else { return .proceed }
            await callPlain(.begin, of: configuration { $0.handlers.list }, here: here)
            return await proceedToProvider(here: here)
        case .deliverCancellation(let reason):
            return await reject(reason, here: here)
        default:
            return .ended
        }
    }

    private func valueTurn(_ value: any Sendable, here: (any Actor)?) async -> Turn {
        switch scheduler.updateDelivery(id, { $0.commit(isFinal: false) }) {
        case .proceed:
            report(.value)
            await callSuccess(value, of: configuration { $0.handlers.list }, here: here)
            return await proceedToProvider(here: here)
        case .deliverCancellation(let reason):
            return await endWithoutValue(.cancelled(reason), here: here)
        default:
            return .ended
        }
    }

    private func endTurn(_ end: CallEnd, _ value: any Sendable, here: (any Actor)?) async -> Turn {
        let step = scheduler.updateDelivery(id) { $0.commit(isFinal: true) }
        leaveAttempt()
        switch step {
        case .proceed:
            guard case .success(let isDelivered) = end else { return await endWithoutValue(end, here: here) }
            let handlers = storeOutcome(end, value)
            if !isDelivered { await callSuccess(value, of: handlers, here: here) }
            return await complete(handlers, here: here)
        case .deliverCancellation(let reason):
            return await endWithoutValue(.cancelled(reason), here: here)
        default:
            return .ended
        }
    }

    /// Ends the call with an error or a cancellation.
    @inline(never)
    fileprivate func endWithoutValue(_ end: CallEnd, here: (any Actor)?) async -> Turn {
        let handlers = storeOutcome(end)
        await callErrorOrCancel(.ended(end), of: handlers, here: here)
        return await complete(handlers, here: here)
    }

    /// Ends a call that was cancelled before it began.
    @inline(never)
    private func reject(_ reason: CancelReason, here: (any Actor)?) async -> Turn {
        report(.rejected)
        await callErrorOrCancel(.rejected(reason), of: storeOutcome(.cancelled(reason)), here: here)
        leaveLane()
        finish()
        return .ended
    }

    /// Calls the handlers of the completion, frees the call's place and starts the calls that follow.
    @inline(__always)
    private func complete(_ handlers: HandlerList, here: (any Actor)?) async -> Turn {
        await callPlain(.completion, of: handlers, here: here)
        leaveLane()
        if traits.contains(.followed) { await startFollowers() }
        finish()
        return .ended
    }

    // MARK: Retries

    /// Delivers a retry event. Returns false if the call has ended instead.
    func deliver(retry number: Int, after error: any Error) async -> Bool {
        guard await beginDelivery() else { return false }
        report(.retried(attempt: number))
        await deliverWithinAttempt(.retried(number, error))
        return await proceedToProvider(here: currentIsolation()) == .proceed
    }

    // MARK: Progress

    /// Starts a task that delivers progress while the provider runs.
    func scheduleProgressDelivery() {
        startDelivery(.progress, isolation: nil)
    }

    /// Delivers progress until none is pending or another party delivers.
    fileprivate func pumpProgress() async {
        guard let first = configuration({ $0.handlers.list.isolation(of: EventSet.progress) }) else { return }
        // On the actor of the first handler: a call whose provider answers in the same turn doesn't wait for the pump.
        await LibraryTask.run(on: first.actor) { await pumpTurn(on: $0) }
    }

    private func pumpTurn(on actor: isolated (any Actor)?) async {
        guard var progress = scheduler.updateDelivery(id, { $0.beginProgressDelivery() }) ?? nil else { return }
        while true {
            await deliverWithinAttempt(.progressed(progress))
            switch scheduler.updateDelivery(id, { $0.endProgressDelivery() }) {
            case .deliverProgress(let next):
                progress = next
            case .resumeCallTask:
                return resume()
            case .deliverCancellation(let reason, let callTaskWaits):
                if callTaskWaits { resume() }
                _ = await endWithoutValue(.cancelled(reason), here: actor)
                return
            case .stop, nil:
                return
            }
        }
    }

    // MARK: The right to deliver

    /// Waits until the call's own task may deliver, and delivers the progress that came before. Later progress is
    /// delivered after the answer: a task that reports continuously would postpone it for ever.
    ///
    /// - Returns: False if another party delivers the end of the call.
    func beginDelivery() async -> Bool {
        while true {
            switch scheduler.updateDelivery(id, { $0.beginDelivery() }) {
            case .proceed:
                return true
            case .deliverProgress(let progress):
                await deliverWithinAttempt(.progressed(progress))
                return true
            case .waitForPump:
                await suspend()
            case .proceedAndSchedulePump, .deliverCancellation, .stop, nil:
                return false
            }
        }
    }

    /// Ends a delivery, so that the provider can be asked for its first or next value.
    @inline(__always)
    private func proceedToProvider(here: (any Actor)?) async -> Turn {
        let step = scheduler.updateDelivery(id) { $0.awaitProvider() }
        return step == .proceed ? .proceed : await endDelivery(step, here: here)
    }

    @inline(never)
    private func endDelivery(
        _ step: DeliveryStateMachine.NextStep?, here: (any Actor)?
    ) async -> Turn {
        switch step {
        case .proceed:
            return .proceed
        case .proceedAndSchedulePump:
            scheduleProgressDelivery()
            return .proceed
        case .deliverProgress(let progress):
            await deliverWithinAttempt(.progressed(progress))
            let step = scheduler.updateDelivery(id) { $0.awaitProvider(hasDeliveredProgress: true) }
            return await endDelivery(step, here: here)
        case .deliverCancellation(let reason):
            return await endWithoutValue(.cancelled(reason), here: here)
        case .waitForPump, .stop, nil:
            return .ended
        }
    }

    // MARK: The end

    /// Delivers the cancellation of a call whose own task is busy with its provider: at once if it has no handlers to run,
    /// otherwise in another task.
    func deliverCancellation(_ reason: CancelReason, isolation: isolated (any Actor)?) {
        let handlers = storeOutcome(.cancelled(reason))
        // Without code of the user to run, no task is needed.
        guard traits.contains(.runsCodeOnCancel) else {
            leaveLane()
            return finish()
        }
        let (task, isImmediate): (DeferredTask?, Bool) = state.withLock { state in
            switch state.cancellation {
            case .unprepared:
                state.cancellation = .unprepared(reason)
                return (nil, false)
            case .deferred(let task, _):
                state.cancellation = .deferred(task, reason)
                return (task, false)
            case .immediate:
                return (nil, true)
            }
        }
        let handler = handlers.isolation(of: .ended(.cancelled(reason)))
        // Handlers without an actor don't run on the canceller's.
        task?.start(on: handler?.actor === isolation ? isolation : nil)
        if isImmediate { startDelivery(.cancellation(reason), isolation: isolation) }
    }

    /// Creates the task that would deliver a cancellation, so that its handlers see the task-local values of the caller.
    /// Called once, when the call is started.
    func prepareCancellation(isolation: isolated (any Actor)?) {
        guard traits.contains(.runsCodeOnCancel), !hasFinished else { return }
        let task = LibraryTask.deferred(executor: core.executor) {
            // Without a capture list, with which the closure would leave its actor for the pool.
            guard case .deferred(_, let reason?) = self.state.withLock({ $0.cancellation }) else { return }
            await DeliveryTaskWork(execution: self, event: .cancellation(reason)).perform()
        }
        let (reason, isFinished): (CancelReason?, Bool) = state.withLock { state in
            guard !state.isFinished, case .unprepared(let reason) = state.cancellation else { return (nil, true) }
            state.cancellation = task.map { .deferred($0, reason) } ?? .immediate
            return (reason, false)
        }
        if isFinished { return task?.discard() ?? () }
        guard let reason else { return }
        if let task {
            task.start()
        } else {
            startDelivery(.cancellation(reason), isolation: isolation)
        }
    }

    /// Removes the call from its lane. In a queue, that frees its place.
    private func leaveLane() {
        if let outcome = traits.contains(.observers) ? outcome : nil { report(.ended(outcome)) }
        scheduler.finish(id)
        core.leave(scheduler)
    }

    /// Starts the calls that follow this one.
    @inline(never)
    private func startFollowers() async {
        let (followers, handlers) = configuration { ($0.options.followers, $0.shared) }
        guard let outcome else { return }
        HandlerContext.enter(#isolation)
        for start in followers where !isChainCut { start(outcome, handlers, self, #isolation) }
        HandlerContext.leave(#isolation)
    }

    /// Starts a task that delivers in place of the call's own task.
    ///
    /// It is not part of the code that cancelled the call or reported progress: calls made in the handlers pause with
    /// this call, and their progress is not reported elsewhere.
    private func startDelivery(_ event: DeliveryTaskWork.Event, isolation: isolated (any Actor)?) {
        PauseControl.rebind(to: control) {
            IntegrationProgress.Reporter.unbind {
                _ = LibraryTask.start(DeliveryTaskWork(execution: self, event: event), isolation: isolation)
            }
        }
    }
}

/// The work of a task that delivers in place of the call's own task.
private struct DeliveryTaskWork: TaskWork {
    enum Event {
        case progress
        case cancellation(CancelReason)
    }

    let execution: CallExecution
    let event: Event

    var executor: (any TaskExecutor)? { execution.core.executor }

    func perform() async {
        switch event {
        case .progress: await execution.pumpProgress()
        case .cancellation(let reason): await deliverCancellation(reason)
        }
    }

    private func deliverCancellation(_ reason: CancelReason) async {
        let isolation = execution.configuration { $0.handlers.list.isolation(of: .ended(.cancelled(reason))) }
        await LibraryTask.run(on: isolation?.actor) { actor in
            _ = await execution.endWithoutValue(.cancelled(reason), here: actor)
        }
    }
}
