/// What is left of an executing type when its timing is taken away.
enum AdmissionRule: Sendable, Hashable {
    case all
    case one
    case line(width: Int, limit: Int)
    case newest(settles: Bool)
}

/// How a call comes to the gate.
enum SubmissionKind: Sendable, Hashable {
    /// Another call comes first.
    case held
    /// Somebody hears its beginning.
    case heard
    /// Nobody hears its beginning: if it is admitted at once, it has begun with that.
    case unheard
    /// Whoever makes it has no use for it any more.
    case turnedAway(CancelReason)
}

/// How a call goes on from the gate.
enum AdmissionResult: Sendable, Hashable {
    /// Its task goes on at once.
    case start
    /// Its task goes on at once, and has nothing to tell before the provider is asked.
    case begun
    /// Its task waits to be woken.
    case wait
    /// Its task waits for the quiet.
    case settle
}

/// Decides which calls of one lane run, wait or are turned away, and frees their places. A pure state machine.
///
/// Every event that touches a call goes through here under one lock, so that an admission and a commit can't cross:
/// once a newer call is admitted, no older one commits.
struct AdmissionStateMachine<Member: Sendable>: Sendable {
    struct Submission: Sendable {
        let ticket: CallID
        let entrance: AdmissionResult
        /// The call whose place the new one took.
        let displaced: Cancellation
    }

    /// What is to be done about a call that was cancelled.
    enum Cancellation: Sendable {
        case nothing
        /// It had not been admitted: wake its task, which will tell.
        case wake(Member)
        /// Stop its work. Whoever speaks for it will tell.
        case stop(Member)
        /// Stop its work, and tell the end for it.
        case takeOver(Member, CallID, CancelReason)
    }

    private enum Stage: Sendable {
        /// Not submitted yet: another call comes first.
        case held
        case settling
        case waiting(previous: CallID?, next: CallID?)
        case admitted
    }

    private struct Entry: Sendable {
        let member: Member
        var stage: Stage
        /// Whether it counts against the width of the line until it is finished.
        var isInside = false
        var voice = DeliveryStateMachine()

        var isAdmitted: Bool {
            if case .admitted = stage { true } else { false }
        }

        init(member: Member, stage: Stage) {
            self.member = member
            self.stage = stage
        }

        init(member: Member, _ decision: Decision, hasBegun: Bool) {
            self.member = member
            switch decision {
            case .start:
                stage = .admitted
                if hasBegun { _ = voice.beginAndAsk() }
            case .turnAway(let reason):
                stage = .admitted
                _ = voice.cancel(reason)
            case .settle:
                stage = .settling
            case .wait:
                stage = .waiting(previous: nil, next: nil)
            }
        }
    }

    private let rule: AdmissionRule
    private var entries = SlotMap<Entry>()
    /// The call that has the place, where there is only one place: it is free again once the call's end is decided.
    private var holder: CallID?
    private var inside = 0
    private var line: (first: CallID, last: CallID)?
    private var waiting = 0
    private var isReleased = false

    init(_ rule: AdmissionRule) {
        self.rule = rule
    }

    /// Whether no call is left.
    var isEmpty: Bool { entries.count == 0 }

    /// Whether a call has not been admitted because another one comes first.
    func isHeld(_ ticket: CallID) -> Bool {
        if case .held = entries[ticket]?.stage { true } else { false }
    }

    /// Whether a call stands in line.
    func isWaiting(_ ticket: CallID) -> Bool {
        if case .waiting = entries[ticket]?.stage { true } else { false }
    }

    /// How many calls have not been let in or turned away yet.
    var waitingCount: Int {
        entries.tickets.count { entries[$0]?.isAdmitted == false }
    }

    // MARK: Coming in

    /// Takes a call in.
    mutating func submit(_ member: Member, _ way: SubmissionKind) -> Submission {
        guard way != .held else {
            // After a release there is nothing to wait for.
            let entry =
                isReleased
                ? Entry(member: member, .turnAway(.released), hasBegun: false) : Entry(member: member, stage: .held)
            return Submission(ticket: entries.insert(entry), entrance: .wait, displaced: .nothing)
        }
        let decision = decide(way)
        let ticket = entries.insert(Entry(member: member, decision, hasBegun: way == .unheard))
        let displaced = takePlace(ticket, decision)
        let entrance = decision.entrance
        return Submission(
            ticket: ticket, entrance: way == .unheard && decision == .start ? .begun : entrance, displaced: displaced)
    }

    /// Admits a call that was held. One that was cancelled meanwhile starts, and learns of it when it begins.
    mutating func admit(_ ticket: CallID) -> Submission {
        guard isHeld(ticket), let member = entries[ticket]?.member else {
            return Submission(ticket: ticket, entrance: .start, displaced: .nothing)
        }
        let decision = decide(.heard)
        entries.update(ticket) { $0 = Entry(member: member, decision, hasBegun: false) }
        return Submission(ticket: ticket, entrance: decision.entrance, displaced: takePlace(ticket, decision))
    }

    private enum Decision: Hashable {
        case start
        case settle
        case wait
        case turnAway(CancelReason)

        var entrance: AdmissionResult {
            switch self {
            case .start, .turnAway: .start
            case .settle: .settle
            case .wait: .wait
            }
        }
    }

    /// What the rule says to a call that comes now.
    private func decide(_ way: SubmissionKind) -> Decision {
        if isReleased { return .turnAway(.released) }
        if case .turnedAway(let reason) = way { return .turnAway(reason) }
        switch rule {
        case .all: return .start
        case .one: return holder == nil ? .start : .turnAway(.ignored)
        case .line(let width, _) where inside < width: return .start
        case .line(_, let limit): return waiting < limit ? .wait : .turnAway(.ignored)
        case .newest(let settles): return settles ? .settle : .start
        }
    }

    /// Gives a call the place that was decided for it.
    private mutating func takePlace(_ ticket: CallID, _ decision: Decision) -> Cancellation {
        switch (rule, decision) {
        case (.all, _), (_, .turnAway):
            return .nothing
        case (.one, _):
            holder = ticket
            return .nothing
        case (.newest, _):
            let displaced = holder.map { cancel($0, .superseded) } ?? .nothing
            holder = ticket
            return displaced
        case (.line, .wait):
            append(ticket)
            return .nothing
        case (.line, _):
            inside += 1
            entries.update(ticket) { $0.isInside = true }
            return .nothing
        }
    }

    /// The quiet that a call waited for has come.
    mutating func settled(_ ticket: CallID) {
        entries.update(ticket) { entry in
            if case .settling = entry.stage { entry.stage = .admitted }
        }
    }

    // MARK: While it runs

    /// Asks the voice of a call, and frees its place if that decided the call's end.
    mutating func voice<R>(_ ticket: CallID, _ event: (inout DeliveryStateMachine) -> R) -> R? {
        guard let (result, isEnding) = entries.update(ticket, { (event(&$0.voice), $0.voice.isEnding) }) else {
            return nil
        }
        if isEnding && holder == ticket { holder = nil }
        return result
    }

    // MARK: Going out

    /// Whether the end of a call has not been decided.
    func isOpen(_ ticket: CallID) -> Bool {
        entries[ticket]?.voice.isEnding == false
    }

    /// Cancels a call, unless its end is decided.
    mutating func cancel(_ ticket: CallID, _ reason: CancelReason) -> Cancellation {
        let outcome = entries.update(ticket) { ($0.voice.cancel(reason), $0.isAdmitted, $0.member) }
        guard let (outcome, isAdmitted, member) = outcome, outcome != .nothing else { return .nothing }
        if holder == ticket { holder = nil }
        if outcome == .takeOver { return .takeOver(member, ticket, reason) }
        if isAdmitted { return .stop(member) }
        unlink(ticket)
        entries.update(ticket) { $0.stage = .admitted }
        return .wake(member)
    }

    /// Cancels every call, oldest first.
    mutating func cancelAll(_ reason: CancelReason) -> [Cancellation] {
        entries.tickets.map { cancel($0, reason) }
    }

    /// Cancels every call and turns away those that are still to come.
    mutating func release() -> [Cancellation] {
        isReleased = true
        return cancelAll(.released)
    }

    /// Lets a call go whose last handler has run. Returns the next one of the line: wake its task.
    mutating func finish(_ ticket: CallID) -> Member? {
        guard let entry = entries.remove(ticket), entry.isInside else { return nil }
        inside -= 1
        guard let next = line?.first else { return nil }
        unlink(next)
        inside += 1
        return entries.update(next) { entry in
            entry.stage = .admitted
            entry.isInside = true
            return entry.member
        }
    }

    // MARK: The line

    private mutating func append(_ ticket: CallID) {
        entries.update(ticket) { $0.stage = .waiting(previous: line?.last, next: nil) }
        if let last = line?.last {
            link(last, next: ticket)
        }
        line = (line?.first ?? ticket, ticket)
        waiting += 1
    }

    private mutating func unlink(_ ticket: CallID) {
        guard case .waiting(let previous, let next) = entries[ticket]?.stage else { return }
        if let previous { link(previous, next: next) }
        if let next { link(next, previous: previous) }
        if let first = previous == nil ? next : line?.first, let last = next == nil ? previous : line?.last {
            line = (first, last)
        } else {
            line = nil
        }
        waiting -= 1
    }

    private mutating func link(_ ticket: CallID, next: CallID?) {
        entries.update(ticket) { entry in
            if case .waiting(let previous, _) = entry.stage { entry.stage = .waiting(previous: previous, next: next) }
        }
    }

    private mutating func link(_ ticket: CallID, previous: CallID?) {
        entries.update(ticket) { entry in
            if case .waiting(_, let next) = entry.stage { entry.stage = .waiting(previous: previous, next: next) }
        }
    }
}
