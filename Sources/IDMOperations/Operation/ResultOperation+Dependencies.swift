public import Foundation
import IDMCore

extension ResultOperation {
    /// Waits for another operation, and is cancelled unless that succeeds. Returns this operation.
    ///
    /// `addDependency` alone waits for the other one however it ends.
    @discardableResult
    public func require<Other>(_ other: ResultOperation<Other>) -> Self {
        addDependency(other)
        other.whenOver { [weak self] outcome in
            if case .success = outcome { return }
            self?.cancel()
        }
        return self
    }

    /// Waits for any other operation, and is cancelled if that was. Foundation's operations can't tell whether they
    /// have failed. Returns this operation.
    @discardableResult
    @_disfavoredOverload
    public func require(_ other: Operation) -> Self {
        addDependency(other)
        watch(other)
        return self
    }
}
