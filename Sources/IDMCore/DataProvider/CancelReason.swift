/// The reason why a call ended without a result.
public enum CancelReason: Sendable, Hashable, CaseIterable {
    /// The executing type rejected the call: a call was running, or the queue was full.
    case ignored
    /// A newer call replaced it.
    case superseded
    /// The call, its task or its integrator was cancelled, or the provider threw a cancellation by itself.
    case cancelled
    /// The integrator, or the operation that made the call, was released.
    case released
}

extension CancelReason {
    /// The reason that `error` stands for, or nil if the error is not a cancellation.
    package init?(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case IntegrationError.cancelled(let reason): self = reason
        default: return nil
        }
    }
}
