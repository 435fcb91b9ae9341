/// Who waits for a place among those that run: the one of the highest priority first, and of equals the one that has
/// waited longest. A value; whoever comes or goes costs little, however many wait.
struct TransferLine: Sendable {
    private struct Place: Comparable, Sendable {
        let priority: TransferPriority
        let turn: Int

        static func < (one: Place, other: Place) -> Bool {
            (other.priority, one.turn) < (one.priority, other.turn)
        }
    }

    private var line = Heap<Place, String>()
    /// Where each stands in the line, and what it is removed with.
    private var tickets: [String: (place: Place, number: Int)] = [:]

    /// How many wait, and how many places they take.
    var counts: (waiting: Int, places: Int) { (line.counts.elements, line.counts.places) }

    /// One waits, at another place than before perhaps.
    mutating func add(_ id: String, _ priority: TransferPriority, turn: Int) {
        let place = Place(priority: priority, turn: turn)
        guard tickets[id]?.place != place else { return }
        remove(id)
        tickets[id] = (place, line.insert(id, at: place))
    }

    /// One doesn't wait.
    mutating func remove(_ id: String) {
        if let ticket = tickets.removeValue(forKey: id) { line.remove(ticket.number) }
    }

    /// Who is next. Stays in the line.
    mutating func next() -> String? { line.first()?.element }
}
