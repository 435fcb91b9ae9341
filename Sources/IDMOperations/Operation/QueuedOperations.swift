import Foundation
import Synchronization

/// The operations that a provider has put into queues and that have not finished. To put one there twice would end the
/// program.
final class QueuedOperations: Sendable {
    /// Held, so that no other operation takes the place of one that is listed.
    private let operations = Mutex<[ObjectIdentifier: Operation]>([:])

    /// Lists an operation. Returns false if it is listed already.
    func add(_ operation: Operation) -> Bool {
        operations.withLock { operations in
            if operations[ObjectIdentifier(operation)] != nil { return false }
            operations[ObjectIdentifier(operation)] = operation
            return true
        }
    }

    func remove(_ id: ObjectIdentifier) {
        // Goes outside of the lock, because it may be the last to hold the operation.
        _ = operations.withLock { $0.removeValue(forKey: id) }
    }
}
