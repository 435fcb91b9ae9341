/// How a call ended.
public enum IntegrationOutcome<Output: Sendable>: Sendable {
    /// The provider answered: with this value, or for a stream with this as the last one.
    case success(Output)
    /// The provider or the model failed, a stream perhaps after some values.
    case failure(any Error)
    /// The call ended without a result.
    case cancelled(CancelReason)
}

extension IntegrationOutcome {
    /// The value of a success.
    public var value: Output? {
        if case .success(let value) = self { return value }
        return nil
    }

    /// The error of a failure.
    public var error: (any Error)? {
        if case .failure(let error) = self { return error }
        return nil
    }

    /// The reason of a cancelled call.
    public var cancelReason: CancelReason? {
        if case .cancelled(let reason) = self { return reason }
        return nil
    }

    /// The value, or throws the error; a cancelled call throws ``IntegrationError/cancelled(_:)``.
    public func get() throws -> Output {
        switch self {
        case .success(let value): value
        case .failure(let error): throw error
        case .cancelled(let reason): throw IntegrationError.cancelled(reason)
        }
    }
}

extension IntegrationOutcome: Equatable where Output: Equatable {
    /// Two outcomes are equal if they are of one kind with equal values or reasons. Failures are equal to nothing.
    public static func == (left: IntegrationOutcome, right: IntegrationOutcome) -> Bool {
        switch (left, right) {
        case (.success(let left), .success(let right)): left == right
        case (.cancelled(let left), .cancelled(let right)): left == right
        default: false
        }
    }
}

/// Inside, outcomes carry a value of any type. These give it back its type, which is known where the call was made, and
/// is the only one that the value can have.
extension IntegrationOutcome where Output == any Sendable {
    /// What comes of an error from below, which may be the provider's own cancel.
    init(_ error: any Error) {
        self = CancelReason(error).map { .cancelled($0) } ?? .failure(error)
    }

    consuming func get<Value: Sendable>(as type: Value.Type) throws -> Value {
        switch consume self {
        case .success(let value): value as! Value
        case .failure(let error): throw error
        case .cancelled(let reason): throw IntegrationError.cancelled(reason)
        }
    }

    package func typed<Value: Sendable>() -> IntegrationOutcome<Value> {
        switch self {
        case .success(let value): .success(value as! Value)
        case .failure(let error): .failure(error)
        case .cancelled(let reason): .cancelled(reason)
        }
    }
}
