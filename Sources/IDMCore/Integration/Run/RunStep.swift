/// What a test kit has to know of a run, and its handlers don't say.
package enum RunStep: Sendable {
    /// It has been made. In the end it completes, or is turned away.
    case made
    /// It is about to hear that it was cancelled before it began: the last that it hears.
    case turnedAway
}

extension Integrator {
    /// Follows the runs of all calls made from now on. Told under no lock, in the turn in which it happens.
    package func follow(_ hear: @escaping @Sendable (RunStep) -> Void) {
        engine.changeHandlers { $0.append(.watch(StepWatcher(hear))) }
    }
}

extension IntegrationCall {
    /// Follows the runs of the call: its own, and those that tell its handlers again.
    package consuming func following(_ hear: @escaping @Sendable (RunStep) -> Void) -> IntegrationCall {
        adding(.watch(StepWatcher(hear)))
    }
}

private final class StepWatcher: CallWatcher {
    private let hear: @Sendable (RunStep) -> Void

    init(_ hear: @escaping @Sendable (RunStep) -> Void) {
        self.hear = hear
    }

    func hear(_ event: CallEvent, of call: ObjectIdentifier) {
        switch event {
        case .made: hear(.made)
        case .turnedAway: hear(.turnedAway)
        case .began, .retried, .heard, .ended: break
        }
    }
}
