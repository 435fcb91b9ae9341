/// An error that wraps another error.
///
/// ```swift
/// struct SyncError: WrappingError {
///     let step: String
///     let underlyingError: (any Error)?
/// }
/// ```
///
/// A conforming type lets ``ErrorRouter`` and ``Swift/Error/failure(as:)`` find the error inside it.
/// ``IntegrationError/model(_:)`` is such an error.
public protocol WrappingError: Error {
    /// The wrapped error. Nil if this value wraps none.
    var underlyingError: (any Error)? { get }
}

extension Error {
    /// Returns the first error of a type among this error and the errors that it wraps.
    ///
    /// ```swift
    /// if let failure = error.failure(as: SearchFailure.self) { field.mark(failure.reason) }
    /// ```
    public func failure<Failure: Error>(as type: Failure.Type) -> Failure? {
        for error in unwrapping {
            if let failure = error as? Failure { return failure }
        }
        return nil
    }

    /// This error, then the error that it wraps, and so on inwards. A class can wrap itself, so the depth is bounded.
    var unwrapping: some Sequence<any Error> {
        sequence(first: self as any Error) { ($0 as? any WrappingError)?.underlyingError }.prefix(100)
    }

    /// The name of the error's type. An error that left a generic function can be an `any Error` inside an `any Error`,
    /// and `type(of: self)` would be "Error".
    package var typeName: String { "\(type(of: self as Any))" }
}
