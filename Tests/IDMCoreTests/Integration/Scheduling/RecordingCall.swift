import Synchronization

@testable import IDMCore

/// A call at a gate that writes down what the gate asks of it, and may do something each time.
final class GuestMember: ScheduledCall {
    enum Event: Hashable {
        case wake, stop
        case takeOver(CancelReason, onMainActor: Bool)
    }

    private let heard = Mutex<[Event]>([])
    private let reaction: @Sendable (Event) -> Void

    init(reaction: @escaping @Sendable (Event) -> Void = { _ in }) {
        self.reaction = reaction
    }

    var events: [Event] { heard.withLock { $0 } }

    func wake() {
        note(.wake)
    }

    func stop() {
        note(.stop)
    }

    func takeOver(
        _ ticket: CallID, _ reason: CancelReason, at gate: LaneScheduler, isolation: isolated (any Actor)?
    ) {
        note(.takeOver(reason, onMainActor: isolation === MainActor.shared))
    }

    private func note(_ event: Event) {
        heard.withLock { $0.append(event) }
        reaction(event)
    }
}
