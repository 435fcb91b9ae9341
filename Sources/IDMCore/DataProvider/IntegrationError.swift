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

/// An error of the code around a provider. The provider's own errors are passed on unchanged.
public enum DataProviderError: Error, Sendable, Hashable {
    /// A callback provider released its completion without calling it, or a stream ended without a value.
    case noAnswer
    /// The request took longer than ``DataProvider/timeout(_:clock:)`` allows.
    case timedOut(after: Duration)
}

extension DataProviderError: CustomStringConvertible {
    /// A description for developers. For the users of an app there is ``errorDescription``.
    public var description: String {
        switch self {
        case .noAnswer: "The provider ended without an answer."
        case .timedOut(let duration): "The provider did not answer within \(duration)."
        }
    }
}
