/// The continuations that wait for one thing. To be kept under a lock, and resumed outside of it.
struct Waiters<Value: Sendable>: Sendable {
    private var continuations: [Int: WatchedContinuation<Value, Never>] = [:]
    private var lastID = 0

    /// A name for a waiter that is about to come.
    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func add(_ continuation: WatchedContinuation<Value, Never>, _ id: Int) {
        continuations[id] = continuation
    }

    mutating func remove(_ id: Int) -> WatchedContinuation<Value, Never>? {
        continuations.removeValue(forKey: id)
    }

    mutating func removeAll() -> [WatchedContinuation<Value, Never>] {
        defer { continuations = [:] }
        return continuations.isEmpty ? [] : Array(continuations.values)
    }
}
