/// Admits the calls of one lane: an ``AdmissionStateMachine`` under a lock, and its effects outside the lock.
@usableFromInline
final class LaneScheduler: Sendable {
    let lane: LaneKey?
    private let admission: Locked<AdmissionStateMachine<any ScheduledCall>>

    init(_ rule: AdmissionRule, lane: LaneKey? = nil) {
        self.lane = lane
        admission = Locked(AdmissionStateMachine(rule))
    }

    // MARK: Submission

    /// Adds a call, which is made with its ID.
    func submit<Call: ScheduledCall>(
        _ kind: SubmissionKind, isolation: isolated (any Actor)?, _ makeCall: (CallID) -> Call
    ) -> (call: Call, result: AdmissionResult) {
        let (call, submission) = admission.withLock { admission in
            let call = makeCall(admission.nextID)
            return (call, admission.submit(call, kind))
        }
        perform(submission.superseded, isolation: isolation)
        return (call, submission.result)
    }

    /// Submits a call that was held, now that its predecessors have finished.
    func admit(_ id: CallID, isolation: isolated (any Actor)?) -> AdmissionResult {
        let submission = admission.withLock { $0.admit(id) }
        perform(submission.superseded, isolation: isolation)
        return submission.result
    }

    func isHeld(_ id: CallID) -> Bool { admission.withLock { $0.isHeld(id) } }

    func isWaiting(_ id: CallID) -> Bool { admission.withLock { $0.isWaiting(id) } }

    /// The number of calls that are held, debouncing or in the queue.
    var waitingCount: Int { admission.withLock { $0.waitingCount } }

    func endDebounce(_ id: CallID) {
        admission.withLock { $0.endDebounce(id) }
    }

    // MARK: Delivery

    /// Changes the delivery state of a call under the lock. Returns the next step; nil if the call has finished.
    func updateDelivery<R: Sendable>(_ id: CallID, _ event: (inout DeliveryStateMachine) -> sending R) -> R? {
        admission.withLock { $0.updateDelivery(id, event) }
    }

    /// Starts a call in the turn in which its begin event is delivered. If the queue waited for this start and has a free
    /// place, resumes the next call.
    func start(_ id: CallID, hasBeginHandler: Bool) -> DeliveryStateMachine.NextStep? {
        let (step, next) = admission.withLock { admission in
            let step = admission.updateDelivery(id) { hasBeginHandler ? $0.start() : $0.startWithoutBegin() }
            return (step, admission.noteStart(id))
        }
        next?.resume()
        return step
    }

    /// Resumes the next call of the queue although `id` has not started: it is paused.
    func postponeStart(_ id: CallID) {
        admission.withLock { $0.noteStart(id) }?.resume()
    }

    /// Removes a call whose last handler has run, and resumes the next call of the queue.
    func finish(_ id: CallID) {
        admission.withLock { $0.finish(id) }?.resume()
    }

    // MARK: Cancellation

    // A cancel without an actor may come from anywhere: from inside a user's lock, or from a task's cancellation
    // handler, which holds a lock of the runtime. Handlers don't run there, but in a task of their own.

    /// Cancels a call. Returns false if its end was decided before.
    @discardableResult
    func cancel(_ id: CallID, _ reason: CancelReason, isolation: isolated (any Actor)?) -> Bool {
        let (wasOpen, cancellation) = admission.withLock { ($0.isOpen(id), $0.cancel(id, reason)) }
        perform(cancellation, isolation: isolation)
        return wasOpen
    }

    /// Cancels all calls of several lanes. Calls that their handlers make are not affected: every cancellation is decided
    /// before the first is performed.
    static func cancelAll(of schedulers: [LaneScheduler], isolation: isolated (any Actor)?) {
        let cancellations = schedulers.map { scheduler in scheduler.admission.withLock { $0.cancelAll(.cancelled) } }
        for (scheduler, cancellations) in zip(schedulers, cancellations) {
            for cancellation in cancellations { scheduler.perform(cancellation, isolation: isolation) }
        }
    }

    /// Cancels all calls with ``CancelReason/released``, and rejects those that are submitted later.
    func release() {
        for cancellation in admission.withLock({ $0.release() }) {
            perform(cancellation, isolation: nil)
        }
    }

    private func perform(
        _ cancellation: AdmissionStateMachine<any ScheduledCall>.Cancellation, isolation: isolated (any Actor)?
    ) {
        switch cancellation {
        case .none:
            break
        case .resume(let call):
            call.cancelTask()
            call.resume()
        case .cancelTask(let call):
            call.cancelTask()
        case .deliver(let call, _, let reason):
            call.cancelTask()
            call.deliverCancellation(reason, isolation: isolation)
        }
    }
}

/// The effects that a ``LaneScheduler`` has on a call. Never called under its lock.
protocol ScheduledCall: AnyObject, Sendable {
    /// Resumes the call's task, which waits to start or to deliver.
    func resume()
    /// Cancels the call's task.
    func cancelTask()
    /// Delivers the cancellation of a call whose own task is busy with its provider.
    func deliverCancellation(_ reason: CancelReason, isolation: isolated (any Actor)?)
}
