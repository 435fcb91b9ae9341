internal import IDMCore

/// A concurrency limit with a FIFO queue. A value.
struct ConcurrencyLimiter<Waiter> {
    private let limit: Int
    private var running = 0
    private var queue: [Int: Waiter] = [:]
    private var first = 0
    private var last = 0

    /// - Parameter limit: The number of members that may run at once. Less than one is one.
    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var counts: (running: Int, waiting: Int) { (running, queue.count) }

    mutating func enter(_ waiter: @autoclosure () -> Waiter) -> Int? {
        guard running >= limit else {
            running += 1
            return nil
        }
        last += 1
        queue[last] = waiter()
        return last
    }

    mutating func leave() -> Waiter? {
        while first < last {
            first += 1
            if let next = queue.removeValue(forKey: first) { return next }
        }
        running -= 1
        return nil
    }

    mutating func cancel(_ number: Int) -> Waiter? {
        queue.removeValue(forKey: number)
    }
}

/// A concurrency limit per key. Unused keys aren't stored.
final class KeyedConcurrencyLimiter<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
    private let limit: Int
    private let limiters = Locked<[Key: ConcurrencyLimiter<Waiter>]>([:])

    /// - Parameter limit: The number of members of one key that may run at once. Less than one is one.
    init(limit: Int) {
        self.limit = limit
    }

    func counts(_ key: Key) -> (running: Int, waiting: Int) {
        limiters.withLock { $0[key]?.counts ?? (0, 0) }
    }

    func enter(_ key: Key, _ waiter: Waiter) -> Int? {
        limiters.withLock { $0[key, default: ConcurrencyLimiter(limit: limit)].enter(waiter) }
    }

    func leave(_ key: Key) -> Waiter? {
        limiters.withLock { limiters in
            let next = limiters[key]?.leave()
            if limiters[key]?.counts.running == 0 { limiters[key] = nil }
            return next
        }
    }

    func cancel(_ key: Key, _ number: Int) -> Waiter? {
        limiters.withLock { $0[key]?.cancel(number) }
    }
}
