/// The continuations that wait for one event. Store them under a lock, and resume them outside of it.
package struct Waiters<Value: Sendable>: Sendable {
    package typealias Continuation = TrackedContinuation<Value, Never>

    /// The first waiter is stored inline: most events have no other.
    private var first: (id: Int, continuation: Continuation)?
    private var others: [Int: Continuation] = [:]
    private var lastID = 0

    package init() {}

    /// Returns an ID for a waiter that is added next.
    package mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    package mutating func add(_ continuation: Continuation, _ id: Int) {
        if first == nil && others.isEmpty { first = (id, continuation) } else { others[id] = continuation }
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

extension Dictionary where Key: Comparable {
    /// The values in the order of their keys. The order of a dictionary differs from run to run, so an explored schedule
    /// could not be repeated.
    package var inOrder: [Value] {
        count < 2 ? Array(values) : sorted { $0.key < $1.key }.map(\.value)
    }
}
