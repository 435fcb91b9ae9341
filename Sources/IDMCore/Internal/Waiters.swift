/// The continuations that wait for one thing. To be kept under a lock, and resumed outside of it.
package struct Waiters<Value: Sendable>: Sendable {
    private var continuations: [Int: WatchedContinuation<Value, Never>] = [:]
    private var lastID = 0

    package init() {}

    /// A name for a waiter that is about to come.
    package mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    package mutating func add(_ continuation: WatchedContinuation<Value, Never>, _ id: Int) {
        continuations[id] = continuation
    }

    package mutating func remove(_ id: Int) -> WatchedContinuation<Value, Never>? {
        continuations.removeValue(forKey: id)
    }

    package mutating func removeAll() -> [WatchedContinuation<Value, Never>] {
        defer { continuations = [:] }
        return continuations.inOrder
    }
}

extension Dictionary where Key: Comparable {
    /// The values in the order of their keys. A dictionary has one of its own each time: nobody could tell who comes
    /// first, and an explored order would be another one in the next run.
    package var inOrder: [Value] {
        count < 2 ? Array(values) : sorted { $0.key < $1.key }.map(\.value)
    }
}
