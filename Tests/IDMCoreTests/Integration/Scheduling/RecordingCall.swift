import IDMTesting

@testable import IDMCore

/// A call that records what its scheduler asks of it, and may react.
final class RecordingCall: ScheduledCall {
    enum Event: Hashable {
        case resume, cancelTask
        case deliver(CancelReason, onMainActor: Bool)
    }

    private let recorded = Observed<[Event]>([])
    private let reaction: @Sendable (Event) -> Void

    init(reaction: @escaping @Sendable (Event) -> Void = { _ in }) {
        self.reaction = reaction
    }

    var events: [Event] { recorded.value }

    func resume() {
        record(.resume)
    }

    func cancelTask() {
        record(.cancelTask)
    }

    func deliverCancellation(_ reason: CancelReason, isolation: isolated (any Actor)?) {
        record(.deliver(reason, onMainActor: isolation === MainActor.shared))
    }

    private func record(_ event: Event) {
        recorded.change { $0.append(event) }
        reaction(event)
    }
}

extension LaneScheduler {
    /// Submits a call without an actor, and returns its ID.
    @discardableResult
    func submit(_ call: RecordingCall = RecordingCall(), _ kind: SubmissionKind = .withoutBegin) -> CallID {
        var id: CallID?
        _ = submit(kind, isolation: nil) { next in
            id = next
            return call
        }
        return id!
    }
}
