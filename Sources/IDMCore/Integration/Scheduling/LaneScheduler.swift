/// Keeps the admission of one lane under a lock, and does what it decides outside of it.
@usableFromInline
final class LaneScheduler: Sendable {
    let lane: LaneKey?
    private let admission: Locked<AdmissionStateMachine<any ScheduledCall>>

    init(_ rule: AdmissionRule, lane: LaneKey? = nil) {
        self.lane = lane
        admission = Locked(AdmissionStateMachine(rule))
    }

    /// Takes a call in, or only takes note of it if another call comes first.
    func enter(
        _ member: any ScheduledCall, _ way: SubmissionKind, isolation: isolated (any Actor)?
    ) -> (ticket: CallID, entrance: AdmissionResult) {
        let submission = admission.withLock { $0.submit(member, way) }
        perform(submission.displaced, isolation: isolation)
        return (submission.ticket, submission.entrance)
    }

    /// Admits a call that was held.
    func admit(_ ticket: CallID, isolation: isolated (any Actor)?) -> AdmissionResult {
        let submission = admission.withLock { $0.admit(ticket) }
        perform(submission.displaced, isolation: isolation)
        return submission.entrance
    }

    @inline(never)
    func isHeld(_ ticket: CallID) -> Bool {
        admission.withLock { $0.isHeld(ticket) }
    }

    @inline(never)
    func isWaiting(_ ticket: CallID) -> Bool {
        admission.withLock { $0.isWaiting(ticket) }
    }

    var waitingCount: Int { admission.withLock { $0.waitingCount } }

    func settled(_ ticket: CallID) {
        admission.withLock { $0.settled(ticket) }
    }

    /// Asks the voice of a call. Nil if the call has been let go.
    func voice<R: Sendable>(_ ticket: CallID, _ event: (inout DeliveryStateMachine) -> sending R) -> R? {
        admission.withLock { $0.voice(ticket, event) }
    }

    /// Commits the answer of a call of which nobody hears, or begins one that was turned away, and lets the call go if
    /// it ends here.
    func end(_ ticket: CallID, hasBegun: Bool = true) -> DeliveryStateMachine.Turn? {
        let (turn, next) = admission.withLock { admission in
            let turn = admission.voice(ticket) { hasBegun ? $0.commit(isFinal: true) : $0.begin() }
            return switch turn {
            case .proceed, .cancelled: (turn, admission.finish(ticket))
            default: (turn, nil)
            }
        }
        next?.wake()
        return turn
    }

    /// Lets a call go, and wakes the next one.
    func finish(_ ticket: CallID) {
        admission.withLock { $0.finish(ticket) }?.wake()
    }

    // A cancel that comes from no actor may come from anywhere: from inside somebody's lock, or from the handler of
    // another task's cancel, with the runtime's own lock held. Handlers have no business there, so it is told in a
    // later turn.

    /// Cancels a call, unless its end is decided. Returns false if it is.
    @discardableResult
    func cancel(_ ticket: CallID, _ reason: CancelReason, isolation: isolated (any Actor)?) -> Bool {
        let (isOpen, cancellation) = admission.withLock { ($0.isOpen(ticket), $0.cancel(ticket, reason)) }
        perform(cancellation, isolation: isolation)
        return isOpen
    }

    func cancelAll(_ reason: CancelReason, isolation: isolated (any Actor)?) {
        for cancellation in admission.withLock({ $0.cancelAll(reason) }) {
            perform(cancellation, isolation: isolation)
        }
    }

    func release() {
        for cancellation in admission.withLock({ $0.release() }) {
            perform(cancellation, isolation: nil)
        }
    }

    private func perform(
        _ cancellation: AdmissionStateMachine<any ScheduledCall>.Cancellation, isolation: isolated (any Actor)?
    ) {
        switch cancellation {
        case .nothing:
            break
        case .wake(let member):
            member.stop()
            member.wake()
        case .stop(let member):
            member.stop()
        case .takeOver(let member, let ticket, let reason):
            member.stop()
            member.takeOver(ticket, reason, at: self, isolation: isolation)
        }
    }
}

/// What a gate needs of the calls it lets in. Never called under its lock.
protocol ScheduledCall: AnyObject, Sendable {
    /// Lets the call's task go on that waits for its turn to start or to speak.
    func wake()
    /// Stops the work of the call.
    func stop()
    /// Tells the end of a call whose own task is still busy with its provider.
    func takeOver(
        _ ticket: CallID, _ reason: CancelReason, at gate: LaneScheduler, isolation: isolated (any Actor)?)
}
