/// Events of a call that a test kit needs and handlers don't receive.
package enum CallStep: Sendable {
    /// The call was made. It completes later, or is rejected.
    case made
    /// The call was cancelled before it began. A cancel event follows, and nothing else.
    case rejected
}

extension IntegrationCall {
    /// Observes the executions of this call, and calls that repeat its handlers.
    package consuming func observing(_ observe: @escaping @Sendable (CallStep) -> Void) -> IntegrationCall {
        updating { $0.options.observers.append(StepObserver(observe)) }
    }
}

extension Integrator {
    /// Adds a call's handlers and observers to every call that is made from now on, in one step.
    package func addHandlers(of call: IntegrationCall<Output>) {
        core.addHandlers(call.shared)
    }
}

private final class StepObserver: CallObserver {
    private let observe: @Sendable (CallStep) -> Void

    init(_ observe: @escaping @Sendable (CallStep) -> Void) {
        self.observe = observe
    }

    func callDidChange(_ event: CallLifecycle, of call: ObjectIdentifier) {
        switch event {
        case .made: observe(.made)
        case .rejected: observe(.rejected)
        case .began, .retried, .value, .ended: break
        }
    }
}
