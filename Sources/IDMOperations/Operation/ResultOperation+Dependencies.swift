public import Foundation
import IDMCore

extension ResultOperation {
    /// Waits for another operation, and is cancelled unless that succeeds. Foundation's own operations can't tell
    /// whether they have failed: with one of those, it is cancelled if that was. Returns this operation.
    ///
    /// `addDependency` alone waits for the other one however it ends.
    @discardableResult
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
