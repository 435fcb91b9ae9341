@testable import IDMCore

/// An ``AdmissionStateMachine`` whose calls are numbered in the order of submission.
struct AdmissionProbe {
    /// The effect of a cancel.
    enum Effect: Hashable {
        case resume(Int)
        case cancelTask(Int)
        case deliver(Int, CancelReason)
    }

    private var machine: AdmissionStateMachine<Int>
    private var ids: [CallID] = []

    init(_ rule: AdmissionRule) {
        machine = AdmissionStateMachine(rule)
    }

    var isEmpty: Bool { machine.isEmpty }
    var waitingCount: Int { machine.waitingCount }

    func isHeld(_ call: Int) -> Bool { machine.isHeld(ids[call]) }
    func isWaiting(_ call: Int) -> Bool { machine.isWaiting(ids[call]) }
    func isOpen(_ call: Int) -> Bool { machine.isOpen(ids[call]) }

    mutating func submit(_ kind: SubmissionKind) -> (result: AdmissionResult, superseded: Effect?) {
        let submission = machine.submit(ids.count, kind)
        ids.append(submission.id)
        return (submission.result, effect(submission.superseded))
    }

    mutating func admit(_ call: Int) -> (result: AdmissionResult, superseded: Effect?) {
        let submission = machine.admit(ids[call])
        precondition(submission.id == ids[call])
        return (submission.result, effect(submission.superseded))
    }

    mutating func endDebounce(_ call: Int) {
        machine.endDebounce(ids[call])
    }

    mutating func deliver<R>(_ call: Int, _ event: (inout DeliveryStateMachine) -> R) -> R? {
        machine.updateDelivery(ids[call], event)
    }

    /// Returns the next call of the line.
    mutating func noteStart(_ call: Int) -> Int? {
        machine.noteStart(ids[call])
    }

    mutating func cancel(_ call: Int, _ reason: CancelReason) -> Effect? {
        // In a variable: without optimization a copy would be held during the call, and each change copy all of it.
        let cancellation = machine.cancel(ids[call], reason)
        return effect(cancellation)
    }

    mutating func cancelAll(_ reason: CancelReason) -> [Effect] {
        machine.cancelAll(reason).compactMap(effect)
    }

    mutating func release() -> [Effect] {
        machine.release().compactMap(effect)
    }

    /// Returns the next call of the line.
    mutating func finish(_ call: Int) -> Int? {
        machine.finish(ids[call])
    }

    private func effect(_ cancellation: AdmissionStateMachine<Int>.Cancellation) -> Effect? {
        switch cancellation {
        case .none: return nil
        case .resume(let call): return .resume(call)
        case .cancelTask(let call): return .cancelTask(call)
        case .deliver(let call, let id, let reason):
            precondition(id == ids[call])
            return .deliver(call, reason)
        }
    }
}
