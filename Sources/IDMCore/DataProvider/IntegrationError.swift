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
