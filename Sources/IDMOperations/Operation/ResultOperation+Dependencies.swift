public import Foundation
import IDMCore

extension ResultOperation {
    /// Waits for another operation, and is cancelled unless that succeeds. Returns this operation.
    ///
    /// `addDependency` alone waits for the other one however it ends.
    @discardableResult
    public func require<Other>(_ other: ResultOperation<Other>) -> Self {
        require(other as Operation)
    }

    /// Waits for any other operation, and is cancelled if that was, or has failed as far as it can tell: Foundation's
    /// own operations can't. Returns this operation.
    @discardableResult
    @_disfavoredOverload
    public func require(_ other: Operation) -> Self {
        addDependency(other)
        if let other = other as? any Failing {
            other.whenWithoutResult { [weak self] in self?.cancel() }
        } else {
            watch(other)
        }
        return self
    }
}

/// An operation that can tell whether it has failed, whatever its result is.
private protocol Failing: Operation {
    /// Calls back if it ends without a result.
    func whenWithoutResult(_ body: @escaping @Sendable () -> Void)
}

extension ResultOperation: Failing {
    fileprivate func whenWithoutResult(_ body: @escaping @Sendable () -> Void) {
        whenOver { outcome in
            if case .success = outcome { return }
            body()
        }
    }
}
