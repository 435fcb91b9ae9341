/// An error that an integrator adds to the errors of its provider.
///
/// An integrator is a provider itself, so these errors also travel through compositions. Operators such as
/// `retry` and `fallback` recognize a cancellation by them.
public enum IntegrationError: Error, Sendable {
    /// The provider answered, but the model's initializer threw this error.
    case model(any Error)
    /// The call ended without a result, for this reason.
    case cancelled(CancelReason)
}

extension IntegrationError: WrappingError {
    /// The error that the model's initializer threw. Nil for a cancelled call.
    public var underlyingError: (any Error)? {
        if case .model(let error) = self { return error }
        return nil
    }
}

extension IntegrationError: CustomStringConvertible {
    /// A description for developers. For the users of an app there is ``errorDescription``.
    public var description: String {
        switch self {
        case .model(let error): "The model could not be made from the data: \(error)"
        case .cancelled(.ignored): "The call was ignored: its executing type rejected it."
        case .cancelled(.superseded): "The call was replaced by a newer call."
        case .cancelled(.cancelled): "The call was cancelled."
        case .cancelled(.released): "The call was cancelled because its integrator or operation was released."
        }
    }
}
