/// Who waits for a place among those that run: the one of the highest priority first, and of equals the one that has
/// waited longest. A value; whoever comes or goes costs little, however many wait.
struct TransferLine: Sendable {
    private struct Place: Comparable, Sendable {
        let priority: TransferPriority
        let turn: Int
        /// Which one it is of all that were ever taken.
        let number: Int
        let id: String

        static func < (one: Place, other: Place) -> Bool {
            (other.priority, one.turn, one.number) < (one.priority, other.turn, other.number)
        }
    }

    /// The places of those that wait.
    private var places: [String: Place] = [:]
    /// The same, the next one first. Those that were given up stay for a while.
    private var line = Heap<Place>()
    private var lastNumber = 0

    /// How many wait, and how many places they take.
    var counts: (waiting: Int, places: Int) { (places.count, line.count) }

    /// One waits, at another place than before perhaps.
    mutating func add(_ id: String, _ priority: TransferPriority, turn: Int) {
        if let place = places[id], place.priority == priority, place.turn == turn { return }
        lastNumber += 1
        let place = Place(priority: priority, turn: turn, number: lastNumber, id: id)
        places[id] = place
        line.insert(place)
        clear()
    }

    /// One doesn't wait.
    mutating func remove(_ id: String) {
        if places.removeValue(forKey: id) != nil { clear() }
    }

    /// Who is next. Stays in the line.
    mutating func next() -> String? {
        while let first = line.first {
            if places[first.id] == first { return first.id }
            line.removeFirst()
        }
        return nil
    }

    private mutating func clear() {
        guard line.count > 2 * places.count + 32 else { return }
        line.keep { places[$0.id] == $0 }
    }
}
