/// What is to be done at which times. Most of it is given up before, and costs little then. A value.
struct AlarmBook<Instant: Comparable, Body> {
    /// The times, the earliest first: a heap, in which those that were given up stay for a while.
    private var heap: [(time: Instant, id: Int)] = []
    private var bodies: [Int: Body] = [:]
    private var lastID = 0

    /// How many there are, and how many places they take.
    var counts: (alarms: Int, places: Int) { (bodies.count, heap.count) }

    /// Something is to be done at a time. Returns what it can be given up with.
    mutating func add(_ body: Body, at time: Instant) -> Int {
        lastID += 1
        bodies[lastID] = body
        heap.append((time, lastID))
        rise()
        return lastID
    }

    /// Something isn't to be done.
    mutating func remove(_ id: Int) {
        guard bodies.removeValue(forKey: id) != nil, heap.count > 2 * bodies.count + 32 else { return }
        heap = heap.filter { bodies[$0.id] != nil }.sorted { $0.time < $1.time }
    }

    /// When something is to be done next.
    mutating func next() -> Instant? {
        while let first = heap.first {
            if bodies[first.id] != nil { return first.time }
            removeFirst()
        }
        return nil
    }

    /// What is to be done by now, in its order.
    mutating func take(until now: Instant) -> [Body] {
        var due: [Body] = []
        while let time = next(), time <= now {
            if let body = bodies.removeValue(forKey: heap[0].id) { due.append(body) }
            removeFirst()
        }
        return due
    }

    private mutating func rise() {
        var place = heap.count - 1
        while place > 0, case let parent = (place - 1) / 2, heap[place].time < heap[parent].time {
            heap.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while case let child = 2 * place + 1, child < heap.count {
            let least = child + 1 < heap.count && heap[child + 1].time < heap[child].time ? child + 1 : child
            guard heap[least].time < heap[place].time else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
