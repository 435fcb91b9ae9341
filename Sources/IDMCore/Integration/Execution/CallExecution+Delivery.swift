/// Delivery of events: one at a time, each on the actor on which its handler was written.
///
/// In the turn on the actor of the first handler, the delivery state machine is asked whether the event may still be
/// delivered, and the handler is called without a suspension in between.
extension CallExecution {
    /// The result of a turn on a handler's actor.
    private enum Turn {
        /// The event was delivered; the call goes on with the provider.
        case proceed
        /// Nothing was delivered: the call is paused. The turn is repeated after the pause.
        case paused
        /// The call has ended, or another party delivers its end.
        case ended
    }

    private var isPaused: Bool { control?.isPaused ?? false }

    /// Waits while the call is paused. A cancel ends the wait.
    func waitWhilePaused() async {
        if let control { try? await control.waitWhilePaused() }
    }

    // MARK: Begin

    /// Delivers the begin event. Returns false if the call has ended instead.
    ///
    /// - Parameter hasWaited: Pass true for a call that has waited for its turn: if it is paused, it waits for that too.
    func deliverBegin(_ id: CallID, hasWaited: Bool) async -> Bool {
        let handlers = traits.contains(.begin) ? configured { $0.handlers.begin } ?? [] : []
        let actor = handlers.isEmpty ? currentIsolation() : handlers[0].isolation
        while true {
            let turn = await LibraryTask.run(on: actor) { actor in
                await beginTurn(handlers, id, mayPause: hasWaited, on: actor)
            }
            guard turn == .paused else { return turn == .proceed }
            await waitWhilePaused()
        }
    }

    private func beginTurn(
        _ handlers: [@isolated(any) @Sendable () -> Void], _ id: CallID, mayPause: Bool,
        on actor: isolated (any Actor)?
    ) async -> Turn {
        if mayPause, isPaused, !Task.isCancelled, scheduler.deliver(id, { $0.canStart }) == true {
            scheduler.postponeStart(id)
            return .paused
        }
        switch scheduler.start(id, isObserved: !handlers.isEmpty) {
        case .proceed:
            report(.began)
            guard !handlers.isEmpty else { return .proceed }
            beginDelivering()
            for handler in handlers { await handler() }
            endDelivering()
            return await askProvider(id)
        case .deliverCancellation(let reason):
            await deliverEnd(.cancelled(reason), id, hasBegun: false, on: actor)
            return .ended
        default:
            return .ended
        }
    }

    // MARK: Values and retries

    /// Delivers a value of a stream. Returns false if the call has ended instead.
    func deliver(value: any Sendable, _ id: CallID) async -> Bool {
        guard await beginDelivery(id) else { return false }
        let handlers = configured { $0.handlers.success } ?? []
        let actor = handlers.isEmpty ? currentIsolation() : handlers[0].isolation
        while true {
            let turn = await LibraryTask.run(on: actor) { actor in
                await valueTurn(value, handlers, id, on: actor)
            }
            guard turn == .paused else { return turn == .proceed }
            await waitWhilePaused()
        }
    }

    private func valueTurn(
        _ value: any Sendable, _ handlers: [SuccessHandler], _ id: CallID, on actor: isolated (any Actor)?
    ) async -> Turn {
        if isPaused, !Task.isCancelled { return .paused }
        switch scheduler.deliver(id, { $0.commit(isFinal: false) }) {
        case .proceed:
            report(.value)
            beginDelivering()
            for handler in handlers { await handler.call(value) }
            endDelivering()
            return await askProvider(id)
        case .deliverCancellation(let reason):
            await deliverEnd(.cancelled(reason), id, hasBegun: true, on: actor)
            return .ended
        default:
            return .ended
        }
    }

    /// Delivers a retry event. Returns false if the call has ended instead.
    func deliver(retry number: Int, after error: any Error, _ id: CallID) async -> Bool {
        guard await beginDelivery(id) else { return false }
        report(.retried(attempt: number))
        for handler in configured({ $0.handlers.retry }) ?? [] {
            await waitWhilePaused()
            await LibraryTask.run(on: handler.isolation) { actor in
                await intermediateTurn(id, on: actor) { await handler(number, error) }
            }
        }
        return await LibraryTask.run(on: currentIsolation()) { _ in await askProvider(id) } == .proceed
    }

    /// Calls a handler of an event that isn't an answer, unless the call was cancelled.
    private func intermediateTurn(
        _ id: CallID, on actor: isolated (any Actor)?, _ handler: () async -> Void
    ) async {
        guard scheduler.deliver(id, { $0.allowsIntermediateEvents }) == true else { return }
        beginDelivering()
        await handler()
        endDelivering()
    }

    // MARK: Progress

    /// Starts a task that delivers progress while the provider runs.
    func scheduleProgressDelivery(_ id: CallID) {
        startDelivery(.progress, id, isolation: nil)
    }

    /// Delivers progress until none is pending or another party delivers.
    fileprivate func pumpProgress(_ id: CallID) async {
        let handlers = configured { $0.handlers.progress } ?? []
        guard let first = handlers.first else { return }
        // On the actor of the first handler: a call whose provider answers in the same turn doesn't wait for the pump.
        await LibraryTask.run(on: first.isolation) { actor in
            await pumpTurn(handlers, id, on: actor)
        }
    }

    private func pumpTurn(
        _ handlers: [@isolated(any) @Sendable (IntegrationProgress) -> Void], _ id: CallID,
        on actor: isolated (any Actor)?
    ) async {
        guard var progress = scheduler.deliver(id, { $0.beginProgressDelivery() }) ?? nil else { return }
        while true {
            for handler in handlers { await intermediateTurn(id, on: actor) { await handler(progress) } }
            switch scheduler.deliver(id, { $0.endProgressDelivery() }) {
            case .deliverProgress(let next):
                progress = next
            case .resumeCallTask:
                return resume()
            case .deliverCancellation(let reason, let callTaskWaits):
                if callTaskWaits { resume() }
                return await deliverEnd(.cancelled(reason), id, hasBegun: true, on: actor)
            case .stop, nil:
                return
            }
        }
    }

    private func deliver(progress: IntegrationProgress, _ id: CallID) async {
        for handler in configured({ $0.handlers.progress }) ?? [] {
            await LibraryTask.run(on: handler.isolation) { actor in
                await intermediateTurn(id, on: actor) { await handler(progress) }
            }
        }
    }

    // MARK: The right to deliver

    /// Waits until the call's own task may deliver, and delivers the progress that came before. Later progress is
    /// delivered after the answer: a task that reports continuously would postpone it for ever.
    ///
    /// - Returns: False if another party delivers the end of the call.
    private func beginDelivery(_ id: CallID) async -> Bool {
        while true {
            switch scheduler.deliver(id, { $0.beginDelivery() }) {
            case .proceed:
                return true
            case .deliverProgress(let progress):
                await deliver(progress: progress, id)
                return true
            case .waitForPump:
                await suspend()
            case .proceedAndSchedulePump, .deliverCancellation, .stop, nil:
                return false
            }
        }
    }

    /// Ends a delivery before the provider is asked for its first or next value.
    private func askProvider(_ id: CallID) async -> Turn {
        var step = scheduler.deliver(id) { $0.awaitProvider() }
        while true {
            switch step {
            case .proceed:
                return .proceed
            case .proceedAndSchedulePump:
                scheduleProgressDelivery(id)
                return .proceed
            case .deliverProgress(let progress):
                await deliver(progress: progress, id)
                step = scheduler.deliver(id) { $0.awaitProvider(hasDeliveredProgress: true) }
            case .deliverCancellation(let reason):
                await deliverEnd(.cancelled(reason), id, hasBegun: true, on: currentIsolation())
                return .ended
            case .waitForPump, .stop, nil:
                return .ended
            }
        }
    }

    // MARK: The end

    /// Ends the call with an answer, unless it was cancelled before.
    func deliver(_ answer: Answer, _ id: CallID) async {
        await deliver(end: answer.outcome, isDelivered: answer.isDelivered, of: answer.attempt, id)
        answer.attempt.leave()
    }

    func deliver(
        end outcome: CallOutcome, isDelivered: Bool = false, of attempt: (any ProviderAttempt)? = nil, _ id: CallID
    ) async {
        // Without progress handlers no other party can be delivering.
        if traits.contains(.progress) {
            guard await beginDelivery(id) else { return }
        }
        let handler = configured { $0.handlers.finalHandler(for: outcome) } ?? nil
        let actor = handler == nil ? currentIsolation() : handler?.actor
        while true {
            let turn = await LibraryTask.run(on: actor) { actor in
                await endTurn(outcome, isDelivered, attempt, id, on: actor)
            }
            guard turn == .paused else { return }
            attempt?.leave()
            await waitWhilePaused()
        }
    }

    @inline(__always)
    private func endTurn(
        _ outcome: CallOutcome, _ isDelivered: Bool, _ attempt: (any ProviderAttempt)?, _ id: CallID,
        on actor: isolated (any Actor)?
    ) async -> Turn {
        if isPaused, !Task.isCancelled { return .paused }
        switch scheduler.deliver(id, { $0.commit(isFinal: true) }) {
        case .proceed:
            attempt?.leave()
            await deliverEnd(outcome, id, hasBegun: true, isDelivered: isDelivered, on: actor)
        case .deliverCancellation(let reason):
            attempt?.leave()
            await deliverEnd(.cancelled(reason), id, hasBegun: true, on: actor)
        default:
            break
        }
        return .ended
    }

    func deliverCancellation(_ reason: CancelReason, _ id: CallID, isolation: isolated (any Actor)?) {
        guard traits.contains(.end) else {
            let configuration = decide(.cancelled(reason))
            return leave(.cancelled(reason), configuration, id)
        }
        for waiter in state.withLock({ $0.decide(.cancelled(reason)) }) {
            waiter.resume(returning: .cancelled(reason))
        }
        startDelivery(.cancellation(reason), id, isolation: isolation)
    }

    /// Stores the outcome, and takes the handlers, which are called for the last time.
    private func decide(_ outcome: CallOutcome) -> CallConfiguration? {
        let (configuration, waiters) = state.withLock { ($0.configuration.take(), $0.decide(outcome)) }
        for waiter in waiters { waiter.resume(returning: outcome) }
        return configuration
    }

    /// Delivers the decided outcome, frees the call's place and starts the calls that follow.
    ///
    /// - Parameters:
    ///   - hasBegun: False if the begin event was not delivered: the call then has no completion and starts no call.
    ///   - isDelivered: True if the value was delivered before.
    fileprivate func deliverEnd(
        _ outcome: CallOutcome, _ id: CallID, hasBegun: Bool, isDelivered: Bool = false,
        on actor: isolated (any Actor)?
    ) async {
        guard let configuration = decide(outcome) else { return leave(outcome, nil, id) }
        if !hasBegun, traits.contains(.observers) {
            report(.rejected, to: configuration.read { $0.handlers.observers })
        }
        beginDelivering()
        switch outcome {
        case .success(let value):
            if !isDelivered { for handler in configuration.read({ $0.handlers.success }) { await handler.call(value) } }
        case .failure(let error): for handler in configuration.read({ $0.handlers.error }) { await handler(error) }
        case .cancelled(let reason): for handler in configuration.read({ $0.handlers.cancel }) { await handler(reason) }
        }
        if hasBegun { for handler in configuration.read({ $0.handlers.completion }) { await handler() } }
        endDelivering()
        leave(outcome, configuration, id) {
            guard hasBegun, traits.contains(.end) else { return }
            whileDelivering {
                for link in configuration.read({ $0.links }) where !state.withLock({ $0.isChainCut }) {
                    link(outcome, configuration, self, actor)
                }
            }
        }
    }

    /// Frees the call's place, starts the calls that follow, and resumes the tasks that wait for the end.
    private func leave(
        _ outcome: CallOutcome, _ configuration: CallConfiguration?, _ id: CallID, startFollowers: () -> Void = {}
    ) {
        if let configuration, traits.contains(.observers) {
            report(.ended(outcome), to: configuration.read { $0.handlers.observers })
        }
        scheduler.finish(id)
        core.leave(scheduler)
        startFollowers()
        state.withLock { $0.finish() }.perform()
    }

    /// Starts a task that delivers in place of the call's own task.
    ///
    /// It is not part of the code that cancelled the call or reported progress: calls made in the handlers pause with
    /// this call, and their progress is not reported elsewhere.
    private func startDelivery(_ event: DeliveryTaskWork.Event, _ id: CallID, isolation: isolated (any Actor)?) {
        PauseControl.rebind(to: control) {
            IntegrationProgress.Reporter.unbind {
                _ = LibraryTask.start(DeliveryTaskWork(execution: self, id: id, event: event), isolation: isolation)
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
    let id: CallID
    let event: Event

    var executor: (any TaskExecutor)? { execution.core.executor }

    func perform() async {
        await HandlerContext.bind(execution) {
            switch event {
            case .progress: await execution.pumpProgress(id)
            case .cancellation(let reason): await deliverCancellation(reason)
            }
        }
    }

    private func deliverCancellation(_ reason: CancelReason) async {
        let handler = execution.configured { $0.handlers.finalHandler(for: .cancelled(reason)) } ?? nil
        await LibraryTask.run(on: handler == nil ? currentIsolation() : handler?.actor) { actor in
            await execution.deliverEnd(.cancelled(reason), id, hasBegun: true, on: actor)
        }
    }
}
