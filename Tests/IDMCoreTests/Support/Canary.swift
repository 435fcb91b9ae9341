import TestSupport
import IDMCore

/// Opens a signal when it goes.
final class Canary: Sendable {
    private let gone: Signal

    init(_ gone: Signal) {
        self.gone = gone
    }

    deinit {
        gone.open()
    }
}

extension IntegrationCall {
    /// Opens the signal when the handlers have been let go: nothing of the run can be heard from then on.
    consuming func opening(_ gone: Signal, isolation: isolated (any Actor)? = #isolation) -> IntegrationCall {
        let canary = Canary(gone)
        return onCompletion { withExtendedLifetime(canary) {} }
    }
}
