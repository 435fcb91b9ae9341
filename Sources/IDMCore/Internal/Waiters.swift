import Synchronization

/// The continuations that wait for one event. Store them under a lock, and resume them outside of it.
package struct Waiters<Value: Sendable>: Sendable {
    package typealias Continuation = TrackedContinuation<Value, Never>

    /// The first waiter is stored inline: most events have no other.
    private var first: (id: Int, continuation: Continuation)?
    private var others: [Int: Continuation] = [:]

    package init() {}

    /// Adds a waiter. Returns false if the current task is cancelled: a later cancel finds the waiter here.
    package mutating func add(_ waiter: (id: Int, continuation: Continuation)) -> Bool {
        guard !Task.isCancelled else { return false }
        if first == nil && others.isEmpty { first = waiter } else { others[waiter.id] = waiter.continuation }
        return true
    }

    package mutating func remove(_ id: Int) -> Continuation? {
        if let first, first.id == id {
            self.first = nil
            return first.continuation
        }
        return others.isEmpty ? nil : others.removeValue(forKey: id)
    }

    /// Removes all waiters, and returns them: to be resumed outside the lock.
    package mutating func removeAll() -> Waiters {
        var removed = Waiters()
        swap(&removed.first, &self.first)
        if !others.isEmpty { swap(&removed.others, &others) }
        return removed
    }

    /// Does something with each waiter, in the order in which their IDs were made.
    package func forEach(_ body: (Continuation) -> Void) {
        if let first { body(first.continuation) }
        if !others.isEmpty { others.inOrder.forEach(body) }
    }
}

extension LibraryTask {
    private static let lastWaiterID = Atomic(0)

    /// Suspends the task until its waiter is resumed, or until the task is cancelled.
    ///
    /// - Parameters:
    ///   - cancelled: The result if the task is cancelled.
    ///   - add: Adds the waiter under the lock of its event. Returns nil if it was added, otherwise the result.
    ///   - remove: Removes a waiter under that lock, and returns it if it was there.
    @inline(__always)
    static func wait<Value: Sendable>(
        cancelled: Value, isolation: isolated (any Actor)? = #isolation,
        adding add: ((id: Int, continuation: TrackedContinuation<Value, Never>)) -> Value?,
        removing remove: @Sendable (Int) -> TrackedContinuation<Value, Never>?
    ) async -> Value {
        let id = lastWaiterID.add(1, ordering: .relaxed).newValue
        return await reactingToCancel {
            await wait { continuation in
                if let result = add((id, continuation)) { continuation.resume(returning: result) }
            }
        } onCancel: {
            remove(id)?.resume(returning: cancelled)
        }
    }
}

extension Dictionary where Key: Comparable {
    /// The values in the order of their keys. The order of a dictionary differs from run to run, so an explored schedule
    /// could not be repeated.
    package var inOrder: [Value] {
        count < 2 ? Array(values) : sorted { $0.key < $1.key }.map(\.value)
    }
}
