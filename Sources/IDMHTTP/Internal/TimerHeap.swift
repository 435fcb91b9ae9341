/// What is to be done at which times. Most of it is given up before, and costs little then. A value.
struct TimerHeap<Instant: Comparable, Body> {
    private var bodies = Heap<Instant, Body>()

    /// How many there are, and how many places they take.
    var counts: (alarms: Int, places: Int) { (bodies.counts.elements, bodies.counts.places) }

    /// Something is to be done at a time. Returns what it can be given up with.
    mutating func add(_ body: Body, at time: Instant) -> Int { bodies.insert(body, at: time) }

    /// Something isn't to be done.
    mutating func remove(_ id: Int) { bodies.remove(id) }

    /// When something is to be done next.
    mutating func next() -> Instant? { bodies.first()?.order }

    /// What is to be done by now, in its order.
    mutating func take(until now: Instant) -> [Body] {
        var due: [Body] = []
        while let (time, body) = bodies.first(), time <= now {
            due.append(body)
            bodies.removeFirst()
        }
        return due
    }
}
