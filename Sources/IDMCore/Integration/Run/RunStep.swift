/// What a test kit has to know of a run, and its handlers don't say.
package enum RunStep: Sendable {
    /// It has been made. In the end it completes, or is turned away.
    case made
    /// It is about to hear that it was cancelled before it began: the last that it hears.
    case turnedAway
}

extension Integrator {
    /// Has all calls made from now on hear what a call hears that is never made: all of it, or nothing.
    package func hear(with call: IntegrationCall<Output>) {
        engine.changeHandlers { $0 = $0.followed(by: call.plan.handlers) }
    }
}

extension IntegrationCall {
    /// Follows the runs of the call: its own, and those that tell its handlers again.
    package consuming func following(_ hear: @escaping @Sendable (RunStep) -> Void) -> IntegrationCall {
        adding(.watch(StepWatcher(hear)))
    }
}

private final class StepWatcher: CallObserver {
    private let hear: @Sendable (RunStep) -> Void

    init(_ hear: @escaping @Sendable (RunStep) -> Void) {
        self.hear = hear
    }

    func hear(_ event: CallLifecycle, of call: ObjectIdentifier) {
        switch event {
        case .made: hear(.made)
        case .turnedAway: hear(.turnedAway)
        case .began, .retried, .heard, .ended: break
        }
    }
}
