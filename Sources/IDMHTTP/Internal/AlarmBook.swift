/// What is to be done at which times. Most of it is given up before, and costs little then. A value.
struct AlarmBook<Instant: Comparable, Body> {
    private struct Alarm: Comparable {
        let time: Instant
        let id: Int

        static func < (one: Alarm, other: Alarm) -> Bool { (one.time, one.id) < (other.time, other.id) }
    }

    /// The times, the earliest first. Those that were given up stay for a while.
    private var alarms = Heap<Alarm>()
    private var bodies: [Int: Body] = [:]
    private var lastID = 0

    /// How many there are, and how many places they take.
    var counts: (alarms: Int, places: Int) { (bodies.count, alarms.count) }

    /// Something is to be done at a time. Returns what it can be given up with.
    mutating func add(_ body: Body, at time: Instant) -> Int {
        lastID += 1
        bodies[lastID] = body
        alarms.insert(Alarm(time: time, id: lastID))
        return lastID
    }

    /// Something isn't to be done.
    mutating func remove(_ id: Int) {
        guard bodies.removeValue(forKey: id) != nil, alarms.count > 2 * bodies.count + 32 else { return }
        alarms.keep { bodies[$0.id] != nil }
    }

    /// When something is to be done next.
    mutating func next() -> Instant? {
        while let first = alarms.first {
            if bodies[first.id] != nil { return first.time }
            alarms.removeFirst()
        }
        return nil
    }

    /// What is to be done by now, in its order.
    mutating func take(until now: Instant) -> [Body] {
        var due: [Body] = []
        while let time = next(), time <= now, let first = alarms.first {
            if let body = bodies.removeValue(forKey: first.id) { due.append(body) }
            alarms.removeFirst()
        }
        return due
    }
}
