/// What an integrator, or a model on the way, adds to the errors of the provider.
///
/// The errors stand with the providers because they travel with the data: an integrator is itself a provider, and
/// whatever is composed around it has to tell these from everything else.
public enum IntegrationError: Error, Sendable {
    /// The provider answered, but the model could not be made from the answer. The model's own error is inside.
    case model(any Error)
    /// The call ended without a result, for the given reason.
    case cancelled(CancelReason)
}

extension IntegrationError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .model(let error): "The model could not be made from the data: \(error)"
        case .cancelled(let reason): "The call was cancelled: \(reason)."
        }
    }
}

/// Why a call ended without a result.
public enum CancelReason: Sendable, Hashable, CaseIterable {
    /// The executing type did not admit the call: something was running, or the queue was full.
    case ignored
    /// A newer call took its place.
    case superseded
    /// Somebody cancelled the call, its task or all calls of its integrator, or the provider cancelled itself.
    case cancelled
    /// Nothing held the integrator any more.
    case released
}

extension CancelReason {
    /// The reason that an error from below stands for, or nil if the error is not a cancellation.
    @usableFromInline
    package init?(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case IntegrationError.cancelled(let reason): self = reason
        default: return nil
        }
    }
}
