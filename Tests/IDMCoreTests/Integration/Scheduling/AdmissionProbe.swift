@testable import IDMCore

/// The machine of admission as its tests see it: the one place that knows its spelling.
struct AdmissionProbe {
    /// What the machine wants done about a call, if anything.
    enum Effect: Hashable {
        case wake(Int)
        case stop(Int)
        case takeOver(Int, CancelReason)
    }

    private var machine: AdmissionStateMachine<Int>
    /// Calls are numbered in the order in which they are submitted.
    private var tickets: [CallID] = []

    init(_ rule: AdmissionRule) {
        machine = AdmissionStateMachine(rule)
    }

    var isEmpty: Bool { machine.isEmpty }

    func isHeld(_ call: Int) -> Bool { machine.isHeld(tickets[call]) }
    func isWaiting(_ call: Int) -> Bool { machine.isWaiting(tickets[call]) }

    mutating func submit(_ call: Int, _ way: SubmissionKind) -> (entrance: AdmissionResult, displaced: Effect?) {
        let submission = machine.submit(call, way)
        precondition(call == tickets.count)
        tickets.append(submission.ticket)
        return (submission.entrance, effect(submission.displaced))
    }

    mutating func admit(_ call: Int) -> (entrance: AdmissionResult, displaced: Effect?) {
        let submission = machine.admit(tickets[call])
        precondition(submission.ticket == tickets[call])
        return (submission.entrance, effect(submission.displaced))
    }

    mutating func settled(_ call: Int) {
        machine.settled(tickets[call])
    }

    mutating func voice<R>(_ call: Int, _ event: (inout DeliveryStateMachine) -> R) -> R? {
        machine.voice(tickets[call], event)
    }

    mutating func cancel(_ call: Int, _ reason: CancelReason) -> Effect? {
        // Not as the argument itself: without optimization a copy is held meanwhile, and everything copied at the
        // change.
        let cancellation = machine.cancel(tickets[call], reason)
        return effect(cancellation)
    }

    mutating func cancelAll(_ reason: CancelReason) -> [Effect] {
        machine.cancelAll(reason).compactMap(effect)
    }

    mutating func release() -> [Effect] {
        machine.release().compactMap(effect)
    }

    /// Returns the call that comes next in line.
    mutating func finish(_ call: Int) -> Int? {
        machine.finish(tickets[call])
    }

    private func effect(_ cancellation: AdmissionStateMachine<Int>.Cancellation) -> Effect? {
        switch cancellation {
        case .nothing: return nil
        case .wake(let call): return .wake(call)
        case .stop(let call): return .stop(call)
        case .takeOver(let call, let ticket, let reason):
            precondition(ticket == tickets[call])
            return .takeOver(call, reason)
        }
    }
}
