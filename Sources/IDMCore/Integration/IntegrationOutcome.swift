/// The outcome of a call.
public enum IntegrationOutcome<Output: Sendable>: Sendable {
    /// The provider returned this value; for a stream, its last value.
    case success(Output)
    /// The provider or the model failed. A stream may have delivered values before.
    case failure(any Error)
    /// The call ended without a result.
    case cancelled(CancelReason)
}

extension IntegrationOutcome {
    /// The value of a success; otherwise nil.
    public var value: Output? {
        if case .success(let value) = self { return value }
        return nil
    }

    /// The error of a failure; otherwise nil.
    public var error: (any Error)? {
        if case .failure(let error) = self { return error }
        return nil
    }

    /// The reason of a cancelled call; otherwise nil.
    public var cancelReason: CancelReason? {
        if case .cancelled(let reason) = self { return reason }
        return nil
    }

    /// Returns the value or throws the error. A cancelled call throws ``IntegrationError/cancelled(_:)``.
    public func get() throws -> Output {
        switch self {
        case .success(let value): value
        case .failure(let error): throw error
        case .cancelled(let reason): throw IntegrationError.cancelled(reason)
        }
    }
}

extension IntegrationOutcome: Equatable where Output: Equatable {
    /// Returns true for successes with equal values and cancellations with equal reasons. Failures are never equal.
    public static func == (left: IntegrationOutcome, right: IntegrationOutcome) -> Bool {
        switch (left, right) {
        case (.success(let left), .success(let right)): left == right
        case (.cancelled(let left), .cancelled(let right)): left == right
        default: false
        }
    }
}

// Executions store outcomes with the type of the value erased. The call that made an execution knows the type.
extension IntegrationOutcome where Output == any Sendable {
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
