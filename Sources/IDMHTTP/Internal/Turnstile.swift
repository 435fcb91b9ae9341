/// Who may go, of those who want to at the same time: so many at once, and the others in the order in which they came.
struct Turnstile<Waiter> {
    private let width: Int
    private var inside = 0
    private var queue: [Int: Waiter] = [:]
    private var first = 0
    private var last = 0

    init(width: Int) {
        self.width = max(width, 1)
    }

    /// How many are inside, and how many wait.
    var counts: (inside: Int, waiting: Int) { (inside, queue.count) }

    /// Lets somebody in, or gives a number in the queue.
    mutating func enter(_ waiter: @autoclosure () -> Waiter) -> Int? {
        guard inside >= width else {
            inside += 1
            return nil
        }
        last += 1
        queue[last] = waiter()
        return last
    }

    /// Somebody goes out. Returns who comes in instead.
    mutating func leave() -> Waiter? {
        while first < last {
            first += 1
            if let next = queue.removeValue(forKey: first) { return next }
        }
        inside -= 1
        return nil
    }

    /// Somebody waits no longer. Nil if it is in already.
    mutating func giveUp(_ number: Int) -> Waiter? {
        queue.removeValue(forKey: number)
    }
}
