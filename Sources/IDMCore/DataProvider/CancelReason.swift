/// Why a call ended without a result.
public enum CancelReason: Sendable, Hashable, CaseIterable {
    /// The executing type did not admit the call: something was running, or the queue was full.
    case ignored
    /// A newer call took its place.
    case superseded
    /// Somebody cancelled the call, its task or all calls of its integrator, or the provider cancelled itself.
    case cancelled
    /// Nothing held the integrator any more, or the operation that was started to make the call.
    case released
}

extension CancelReason {
    /// The reason that an error from below stands for, or nil if the error is not a cancellation.
    package init?(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case IntegrationError.cancelled(let reason): self = reason
        default: return nil
        }
    }
}
