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
        return continuations.inOrder
    }
}

extension Dictionary where Key == Int {
    /// The values in the order of their numbers. A dictionary has one of its own each time: nobody could tell who comes
    /// first, and an explored order would be another one in the next run.
    package var inOrder: [Value] {
        count < 2 ? Array(values) : sorted { $0.key < $1.key }.map(\.value)
    }
}
