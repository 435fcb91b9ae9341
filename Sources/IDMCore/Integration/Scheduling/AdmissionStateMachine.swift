/// The admission rule of an executing type, without its durations.
enum AdmissionRule: Sendable, Hashable {
    case `default`
    case only
    case queue(width: Int, limit: Int)
    case latest(debounces: Bool)
}

/// The way in which a call is submitted.
enum SubmissionKind: Sendable, Hashable {
    /// Another call has to finish first. The call is admitted later, with `admit(_:)`.
    case held
    /// The call has a begin event to deliver.
    case withBegin
    /// The call has no handler for its begin event: if it is admitted at once, it has started.
    case withoutBegin
    /// The call ends with this reason, without being admitted.
    case rejected(CancelReason)
}

/// The next action of a submitted call's task.
enum AdmissionResult: Sendable, Hashable {
    /// Deliver the begin event, or the cancellation that replaces it.
    case start
    /// Ask the provider: the call has started, and there is no begin event to deliver.
    case started
    /// Suspend until the scheduler resumes the task, or the predecessor of a held call does.
    case wait
    /// Wait for the debounce interval.
    case debounce
}

/// Decides which calls of one lane run, wait or are rejected. A pure state machine.
///
/// Each call's ``DeliveryStateMachine`` is part of it, so that one lock orders admissions and commits: once a newer call
/// is admitted, no older call commits a value.
struct AdmissionStateMachine<Member: Sendable>: Sendable {
    struct Submission: Sendable {
        let id: CallID
        let result: AdmissionResult
        /// The effect on the call that the new call superseded.
        let superseded: Cancellation
    }

    /// The effect of a cancel, to be performed outside the lock.
    enum Cancellation: Sendable {
        case none
        /// The call was not admitted: cancel and resume its task, which delivers the cancellation.
        case resume(Member)
        /// Cancel the call's task. The party that delivers its events also delivers the cancellation.
        case cancelTask(Member)
        /// Cancel the call's task, and deliver the cancellation for it.
        case deliver(Member, CallID, CancelReason)
    }

    private enum Stage: Sendable {
        case held
        case debouncing
        case waiting
        /// Admitted, rejected or cancelled: its task continues.
        case settled
    }

    private struct Entry: Sendable {
        let member: Member
        var stage: Stage
        /// True if the call counts against the width of the queue until it has finished.
        var isInside = false
        var delivery = DeliveryStateMachine()

        init(member: Member, stage: Stage) {
            self.member = member
            self.stage = stage
        }

        init(member: Member, _ decision: Decision, hasStarted: Bool) {
            self.member = member
            switch decision {
            case .start:
                stage = .settled
                if hasStarted { _ = delivery.startWithoutBegin() }
            case .reject(let reason):
                stage = .settled
                _ = delivery.cancel(reason)
            case .debounce:
                stage = .debouncing
            case .wait:
                stage = .waiting
            }
        }
    }

    private let rule: AdmissionRule
    private var entries = SlotMap<Entry>()
    /// `.only` and `.latest`: the call that occupies the only place. The place is free once the call's end is decided.
    private var occupant: CallID?
    /// `.queue`: the running calls, and how many of those have a decided end.
    private var insideCount = 0
    private var endingCount = 0
    /// `.queue`: the waiting calls, oldest first, with calls between them that have left the queue.
    private var queue: [CallID] = []
    private var queueStart = 0
    private var queueCount = 0
    /// `.queue`: the call that left the queue and has not started. The next call leaves the queue only after it has, so
    /// that calls start in order although their tasks resume on different threads.
    private var startingCall: CallID?
    private var isReleased = false

    init(_ rule: AdmissionRule) {
        self.rule = rule
    }

    /// True if no call is left.
    var isEmpty: Bool { entries.count == 0 }

    /// True while another call has to finish before this one is admitted.
    func isHeld(_ id: CallID) -> Bool {
        entries[id]?.stage == .held
    }

    /// True while the call waits in the queue.
    func isWaiting(_ id: CallID) -> Bool {
        entries[id]?.stage == .waiting
    }

    /// The number of calls that are held, debouncing or in the queue.
    var waitingCount: Int {
        entries.ids.count { entries[$0]?.stage != .settled }
    }

    // MARK: Submission

    /// The ID of the call that is submitted next.
    var nextID: CallID { entries.nextID }

    /// Adds a call.
    mutating func submit(_ member: Member, _ kind: SubmissionKind) -> Submission {
        guard kind != .held else {
            let entry =
                isReleased
                ? Entry(member: member, .reject(.released), hasStarted: false) : Entry(member: member, stage: .held)
            return Submission(id: entries.insert(entry), result: .wait, superseded: .none)
        }
        let decision = decide(kind)
        let startsUnobserved = kind == .withoutBegin && decision == .start
        let id = entries.insert(Entry(member: member, decision, hasStarted: startsUnobserved))
        let superseded = takePlace(id, decision)
        return Submission(id: id, result: startsUnobserved ? .started : decision.result, superseded: superseded)
    }

    /// Submits a call that was held, now that its predecessors have finished. A call that was cancelled before starts, and then delivers the cancellation.
    mutating func admit(_ id: CallID) -> Submission {
        guard isHeld(id), let member = entries[id]?.member else {
            return Submission(id: id, result: .start, superseded: .none)
        }
        let decision = decide(.withBegin)
        entries.update(id) { $0 = Entry(member: member, decision, hasStarted: false) }
        return Submission(id: id, result: decision.result, superseded: takePlace(id, decision))
    }

    private enum Decision: Hashable {
        case start
        case debounce
        case wait
        case reject(CancelReason)

        var result: AdmissionResult {
            switch self {
            case .start, .reject: .start
            case .debounce: .debounce
            case .wait: .wait
            }
        }
    }

    private func decide(_ kind: SubmissionKind) -> Decision {
        if isReleased { return .reject(.released) }
        if case .rejected(let reason) = kind { return .reject(reason) }
        switch rule {
        case .default: return .start
        case .only: return occupant == nil ? .start : .reject(.ignored)
        case .latest(let debounces): return debounces ? .debounce : .start
        case .queue(let width, let limit):
            if insideCount < width && queueCount == 0 && startingCall == nil { return .start }
            // A call whose end is decided doesn't count: its handlers may submit the next call.
            let free = width - insideCount + endingCount
            return queueCount < limit.addingSaturating(free) ? .wait : .reject(.ignored)
        }
    }

    private mutating func takePlace(_ id: CallID, _ decision: Decision) -> Cancellation {
        switch (rule, decision) {
        case (.default, _), (_, .reject):
            return .none
        case (.only, _):
            occupant = id
            return .none
        case (.latest, _):
            let superseded = occupant.map { cancel($0, .superseded) } ?? .none
            occupant = id
            return superseded
        case (.queue, .wait):
            queue.append(id)
            queueCount += 1
            return .none
        case (.queue, _):
            insideCount += 1
            entries.update(id) { $0.isInside = true }
            return .none
        }
    }

    /// Ends the debounce interval of a call.
    mutating func endDebounce(_ id: CallID) {
        entries.update(id) { entry in
            if entry.stage == .debouncing { entry.stage = .settled }
        }
    }

    // MARK: Delivery

    /// Changes the delivery state of a call. Returns the next step; nil if the call has finished.
    mutating func updateDelivery<R>(_ id: CallID, _ event: (inout DeliveryStateMachine) -> R) -> R? {
        let answer = entries.update(id) { entry in
            let hadEnded = entry.delivery.hasEnded
            let result = event(&entry.delivery)
            return (result, isEnd: !hadEnded && entry.delivery.hasEnded, entry.isInside)
        }
        guard let (result, isEnd, isInside) = answer else { return nil }
        if isEnd { noteEnd(of: id, isInside: isInside) }
        return result
    }

    private mutating func noteEnd(of id: CallID, isInside: Bool) {
        if isInside { endingCount += 1 }
        if occupant == id { occupant = nil }
    }

    /// Returns the next call of the queue if `id` was the call that the queue waited for to start.
    mutating func noteStart(_ id: CallID) -> Member? {
        guard startingCall == id else { return nil }
        startingCall = nil
        return admitFirstOfQueue()
    }

    // MARK: Cancellation and end

    /// True while the end of a call is not decided.
    func isOpen(_ id: CallID) -> Bool {
        entries[id]?.delivery.hasEnded == false
    }

    /// Cancels a call, unless its end is decided.
    mutating func cancel(_ id: CallID, _ reason: CancelReason) -> Cancellation {
        let answer = entries.update(id) { ($0.delivery.cancel(reason), $0.stage, $0.isInside, $0.member) }
        guard let (step, stage, isInside, member) = answer, step != .ignore else { return .none }
        if occupant == id { occupant = nil }
        if step == .cancelTaskAndDeliver {
            noteEnd(of: id, isInside: isInside)
            return .deliver(member, id, reason)
        }
        if stage == .settled { return .cancelTask(member) }
        entries.update(id) { $0.stage = .settled }
        if stage == .waiting { noteLeftQueue() }
        return .resume(member)
    }

    /// Cancels every call, oldest first.
    mutating func cancelAll(_ reason: CancelReason) -> [Cancellation] {
        entries.ids.map { cancel($0, reason) }
    }

    /// Cancels every call, and rejects those that are submitted later.
    mutating func release() -> [Cancellation] {
        isReleased = true
        return cancelAll(.released)
    }

    /// Removes a call whose last handler has run. Returns the call that leaves the queue: resume its task.
    mutating func finish(_ id: CallID) -> Member? {
        guard let entry = entries.remove(id), entry.isInside else { return nil }
        insideCount -= 1
        if entry.delivery.hasEnded { endingCount -= 1 }
        if startingCall == id { startingCall = nil }
        return admitFirstOfQueue()
    }

    // MARK: The queue

    private mutating func admitFirstOfQueue() -> Member? {
        guard case .queue(let width, _) = rule, startingCall == nil, insideCount < width, queueCount > 0 else {
            return nil
        }
        while !isWaiting(queue[queueStart]) { queueStart += 1 }
        let next = queue[queueStart]
        insideCount += 1
        startingCall = next
        let member = entries.update(next) { entry in
            entry.stage = .settled
            entry.isInside = true
            return entry.member
        }
        noteLeftQueue()
        return member
    }

    /// Counts a call that has left the queue. Its ID is removed with many others, so that each takes constant time.
    private mutating func noteLeftQueue() {
        queueCount -= 1
        guard queue.count > 2 * queueCount + 32 else { return }
        queue = queue[queueStart...].filter { isWaiting($0) }
        queueStart = 0
    }
}
