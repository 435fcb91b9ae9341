/// Delivery of events: one at a time, each on the actor on which its handler was written.
///
/// In a turn on the actor of the first handler, the delivery state machine is asked whether the event may still be
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

    /// True if a turn has to wait. A cancelled task doesn't wait: its turn ends the call.
    private var isPaused: Bool {
        guard let control else { return false }
        return control.isPaused && !Task.isCancelled
    }

    /// Waits while the call is paused. A cancel ends the wait.
    func waitWhilePaused() async {
        if let control { try? await control.waitWhilePaused() }
    }

    // MARK: Begin

    /// Delivers the begin event. Returns false if the call has ended instead.
    ///
    /// - Parameter hasWaited: Pass true for a call that has waited for its turn: if it is paused, it waits for that too.
    func deliverBegin(hasWaited: Bool) async -> Bool {
        let handler = traits.contains(.begin) ? call.configuration { $0.handlers.begin.first } : nil
        let actor = handler == nil ? currentIsolation() : handler?.call.isolation
        while true {
            let turn = await LibraryTask.run(on: actor) { await beginTurn(mayPause: hasWaited, on: $0) }
            guard turn == .paused else { return turn == .proceed }
            await waitWhilePaused()
        }
    }

    private func beginTurn(mayPause: Bool, on actor: isolated (any Actor)?) async -> Turn {
        if mayPause, isPaused, scheduler.deliver(id, { $0.canStart }) == true {
            scheduler.postponeStart(id)
            return .paused
        }
        switch scheduler.start(id, isObserved: traits.contains(.begin)) {
        case .proceed:
            report(.began)
            guard traits.contains(.begin) else { return .proceed }
            call.beginDelivering()
            var index = 0
            while let handler = call.configuration({ $0.handlers.begin[index] }) {
                await handler.call()
                index += 1
            }
            call.endDelivering()
            return await askProvider()
        case .deliverCancellation(let reason):
            await deliverEnd(.cancelled(reason), hasBegun: false, on: actor)
            return .ended
        default:
            return .ended
        }
    }

    // MARK: Values and retries

    /// Delivers a value of a stream. Returns false if the call has ended instead.
    func deliver(value: any Sendable) async -> Bool {
        guard await beginDelivery() else { return false }
        let handler = call.configuration { $0.handlers.success.first }
        let actor = handler == nil ? currentIsolation() : handler?.isolation
        while true {
            let turn = await LibraryTask.run(on: actor) { await valueTurn(value, on: $0) }
            guard turn == .paused else { return turn == .proceed }
            await waitWhilePaused()
        }
    }

    private func valueTurn(_ value: any Sendable, on actor: isolated (any Actor)?) async -> Turn {
        if isPaused { return .paused }
        switch scheduler.deliver(id, { $0.commit(isFinal: false) }) {
        case .proceed:
            report(.value)
            call.beginDelivering()
            var index = 0
            while let handler = call.configuration({ $0.handlers.success[index] }) {
                await handler.call(value)
                index += 1
            }
            call.endDelivering()
            return await askProvider()
        case .deliverCancellation(let reason):
            await deliverEnd(.cancelled(reason), on: actor)
            return .ended
        default:
            return .ended
        }
    }

    /// Delivers a retry event. Returns false if the call has ended instead.
    func deliver(retry number: Int, after error: any Error) async -> Bool {
        guard await beginDelivery() else { return false }
        report(.retried(attempt: number))
        var index = 0
        while let handler = call.configuration({ $0.handlers.retry[index] }) {
            let turn = await LibraryTask.run(on: handler.call.isolation) { actor in
                if isPaused { return Turn.paused }
                await intermediateTurn(on: actor) { await handler.call(number, error) }
                return .proceed
            }
            if turn == .paused { await waitWhilePaused() } else { index += 1 }
        }
        return await LibraryTask.run(on: currentIsolation()) { _ in await askProvider() } == .proceed
    }

    /// Calls a handler of an event that isn't an answer, unless the call was cancelled.
    private func intermediateTurn(on actor: isolated (any Actor)?, _ handler: () async -> Void) async {
        guard scheduler.deliver(id, { $0.allowsIntermediateEvents }) == true else { return }
        call.beginDelivering()
        await handler()
        call.endDelivering()
    }

    // MARK: Progress

    /// Starts a task that delivers progress while the provider runs.
    func scheduleProgressDelivery() {
        startDelivery(.progress, isolation: nil)
    }

    /// Delivers progress until none is pending or another party delivers.
    fileprivate func pumpProgress() async {
        guard let first = call.configuration({ $0.handlers.progress.first }) else { return }
        // On the actor of the first handler: a call whose provider answers in the same turn doesn't wait for the pump.
        await LibraryTask.run(on: first.call.isolation) { await pumpTurn(on: $0) }
    }

    private func pumpTurn(on actor: isolated (any Actor)?) async {
        guard var progress = scheduler.deliver(id, { $0.beginProgressDelivery() }) ?? nil else { return }
        while true {
            await deliver(progress: progress)
            switch scheduler.deliver(id, { $0.endProgressDelivery() }) {
            case .deliverProgress(let next):
                progress = next
            case .resumeCallTask:
                return call.resume()
            case .deliverCancellation(let reason, let callTaskWaits):
                if callTaskWaits { call.resume() }
                return await deliverEnd(.cancelled(reason), on: actor)
            case .stop, nil:
                return
            }
        }
    }

    private func deliver(progress: IntegrationProgress) async {
        var index = 0
        while let handler = call.configuration({ $0.handlers.progress[index] }) {
            await LibraryTask.run(on: handler.call.isolation) { actor in
                await intermediateTurn(on: actor) { await handler.call(progress) }
            }
            index += 1
        }
    }

    // MARK: The right to deliver

    /// Waits until the call's own task may deliver, and delivers the progress that came before. Later progress is
    /// delivered after the answer: a task that reports continuously would postpone it for ever.
    ///
    /// - Returns: False if another party delivers the end of the call.
    private func beginDelivery() async -> Bool {
        while true {
            switch scheduler.deliver(id, { $0.beginDelivery() }) {
            case .proceed:
                return true
            case .deliverProgress(let progress):
                await deliver(progress: progress)
                return true
            case .waitForPump:
                await call.suspend()
            case .proceedAndSchedulePump, .deliverCancellation, .stop, nil:
                return false
            }
        }
    }

    /// Ends a delivery before the provider is asked for its first or next value.
    @inline(__always)
    private func askProvider() async -> Turn {
        let step = scheduler.deliver(id) { $0.awaitProvider() }
        return step == .proceed ? .proceed : await endDelivery(step)
    }

    @inline(never)
    private func endDelivery(_ step: DeliveryStateMachine.NextStep?) async -> Turn {
        switch step {
        case .proceed:
            return .proceed
        case .proceedAndSchedulePump:
            scheduleProgressDelivery()
            return .proceed
        case .deliverProgress(let progress):
            await deliver(progress: progress)
            return await endDelivery(scheduler.deliver(id) { $0.awaitProvider(hasDeliveredProgress: true) })
        case .deliverCancellation(let reason):
            await deliverEnd(.cancelled(reason), on: currentIsolation())
            return .ended
        case .waitForPump, .stop, nil:
            return .ended
        }
    }

    // MARK: The end

    /// Ends the call with an answer, unless it was cancelled before.
    @inline(__always)
    func deliver(_ answer: Answer) async {
        // Without progress handlers no other party can be delivering.
        if traits.contains(.progress) {
            guard await beginDelivery() else { return answer.attempt?.leave() ?? () }
        }
        let handler = call.configuration { $0.handlers.finalHandler(for: answer.outcome) }
        let actor = handler == nil ? currentIsolation() : handler?.actor
        while await LibraryTask.run(on: actor, { await endTurn(answer, on: $0) }) == .paused {
            answer.attempt?.leave()
            await waitWhilePaused()
        }
        answer.attempt?.leave()
    }

    private func endTurn(_ answer: Answer, on actor: isolated (any Actor)?) async -> Turn {
        if isPaused { return .paused }
        switch scheduler.deliver(id, { $0.commit(isFinal: true) }) {
        case .proceed:
            answer.attempt?.leave()
            await deliverEnd(answer.outcome, isDelivered: answer.isDelivered, on: actor)
        case .deliverCancellation(let reason):
            answer.attempt?.leave()
            await deliverEnd(.cancelled(reason), on: actor)
        default:
            break
        }
        return .ended
    }

    /// Delivers the cancellation of a call whose own task is busy with its provider.
    func deliverCancellation(_ reason: CancelReason, isolation: isolated (any Actor)?) {
        call.decide(.cancelled(reason))
        // Without code of the user to run, no task is needed.
        guard traits.contains(.end) else { return leave(.cancelled(reason), on: isolation) }
        let (task, isImmediate): (DeferredTask?, Bool) = call.storage.withLock { storage in
            switch storage.cancellation {
            case .unprepared:
                storage.cancellation = .unprepared(reason)
                return (nil, false)
            case .deferred(let task, _):
                storage.cancellation = .deferred(task, reason)
                return (task, false)
            case .immediate:
                return (nil, true)
            }
        }
        let handler = call.configuration { $0.handlers.finalHandler(for: .cancelled(reason)) }
        // Handlers without an actor don't run on the canceller's.
        task?.start(on: handler?.actor === isolation ? isolation : nil)
        if isImmediate { startDelivery(.cancellation(reason), isolation: isolation) }
    }

    /// Creates the task that would deliver a cancellation, so that its handlers see the task-local values of the caller.
    /// Called once, in `call()`.
    func prepareCancellation(isolation: isolated (any Actor)?) {
        guard traits.contains(.end), !call.isFinished else { return }
        let task = LibraryTask.deferred(executor: core.executor) { [self] in
            guard case .deferred(_, let reason?) = call.storage.withLock({ $0.cancellation }) else { return }
            await DeliveryTaskWork(execution: self, event: .cancellation(reason)).perform()
        }
        let (reason, isFinished): (CancelReason?, Bool) = call.storage.withLock { storage in
            guard !storage.isFinished, case .unprepared(let reason) = storage.cancellation else { return (nil, true) }
            storage.cancellation = task.map { .deferred($0, reason) } ?? .immediate
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

    /// Delivers the decided outcome, frees the call's place and starts the calls that follow.
    ///
    /// - Parameters:
    ///   - hasBegun: False if the begin event was not delivered: the call then has no completion and starts no call.
    ///   - isDelivered: True if the value was delivered before.
    @inline(__always)
    fileprivate func deliverEnd(
        _ outcome: CallOutcome, hasBegun: Bool = true, isDelivered: Bool = false, on actor: isolated (any Actor)?
    ) async {
        if !hasBegun { report(.rejected) }
        call.decide(outcome)
        call.beginDelivering()
        var index = 0
        switch outcome {
        case .success(let value):
            while !isDelivered, let handler = call.configuration({ $0.handlers.success[index] }) {
                await handler.call(value)
                index += 1
            }
        case .failure(let error):
            while let handler = call.configuration({ $0.handlers.error[index] }) {
                switch handler {
                case .plain(let handler): await handler(error)
                case .repeating(let handler): await handler(error, call.repetition)
                }
                index += 1
            }
        case .cancelled(let reason):
            while let handler = call.configuration({ $0.handlers.cancel[index] }) {
                await handler.call(reason)
                index += 1
            }
        }
        index = 0
        while hasBegun, let handler = call.configuration({ $0.handlers.completion[index] }) {
            await handler.call()
            index += 1
        }
        call.endDelivering()
        leave(outcome, startsFollowers: hasBegun, on: actor)
    }

    /// Frees the call's place, starts the calls that follow, and resumes the tasks that wait for the end.
    private func leave(
        _ outcome: CallOutcome, startsFollowers: Bool = false, on actor: isolated (any Actor)?
    ) {
        report(.ended(outcome))
        scheduler.finish(id)
        core.leave(scheduler)
        if startsFollowers, traits.contains(.followed) {
            let (links, handlers) = call.configuration { ($0.links, $0.handlers) }
            call.beginDelivering()
            for link in links where !call.isChainCut { link(outcome, handlers, call, actor) }
            call.endDelivering()
        }
        call.finish()
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
        await HandlerContext.bind(execution.call) {
            switch event {
            case .progress: await execution.pumpProgress()
            case .cancellation(let reason): await deliverCancellation(reason)
            }
        }
    }

    private func deliverCancellation(_ reason: CancelReason) async {
        let handler = execution.call.configuration { $0.handlers.finalHandler(for: .cancelled(reason)) }
        await LibraryTask.run(on: handler == nil ? currentIsolation() : handler?.actor) { actor in
            await execution.deliverEnd(.cancelled(reason), on: actor)
        }
    }
}
