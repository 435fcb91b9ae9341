import Foundation
internal import IDMCore

/// The operations that providers have put into queues and that have not finished. To put one there twice would end the
/// program.
final class QueuedOperations: Sendable {
    /// Of all providers: two may be handed the same operation.
    static let shared = QueuedOperations()

    private struct Entry: Sendable {
        /// Nil once it is gone, though it never finished. Another one may have its place by then.
        weak let operation: Operation?
    }

    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// Lists an operation. Returns false if it is listed already.
    func add(_ operation: Operation) -> Bool {
        entries.withLock { entries in
            // What is found there is this one, which the caller holds: nothing goes under the lock.
            if entries[ObjectIdentifier(operation)]?.operation != nil { return false }
            entries[ObjectIdentifier(operation)] = Entry(operation: operation)
            return true
        }
    }

    func remove(_ id: ObjectIdentifier) {
        entries.withLock { _ = $0.removeValue(forKey: id) }
    }
}
