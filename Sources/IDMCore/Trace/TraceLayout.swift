/// Where the entries of a trace are drawn: each track has as many rows as it needs for spans that overlap to stand
/// below each other. Parts stand in the row of the whole.
struct TraceLayout {
    struct Row {
        let name: String
        /// The entries in it, by the time they began.
        fileprivate(set) var entries: [TraceEntry] = []
        fileprivate var end: Duration = .zero

        fileprivate mutating func take(_ entry: TraceEntry, _ now: Duration) {
            entries.append(entry)
            end = max(end, entry.end ?? now)
        }
    }

    /// The rows of each track together, in the order in which the tracks were first used.
    private(set) var rows: [Row] = []
    /// When the last entry ends.
    private(set) var end: Duration = .zero

    /// - Parameters:
    ///   - entries: The entries, parts after their whole.
    ///   - now: Where spans are drawn to that haven't ended.
    init(_ entries: [TraceEntry], now: Duration) {
        var tracks: [String] = []
        var members: [String: [Int]] = [:]
        for (index, entry) in entries.enumerated() {
            if members[entry.track] == nil { tracks.append(entry.track) }
            members[entry.track, default: []].append(index)
            end = max(end, entry.end ?? now)
        }
        for track in tracks {
            rows += Self.rows(of: track, members[track] ?? [], entries, now)
        }
    }

    private static func rows(
        of track: String, _ members: [Int], _ entries: [TraceEntry], _ now: Duration
    ) -> [Row] {
        var rows: [Row] = []
        var vacancies = Vacancies()
        var rowOfEntry: [Int: Int] = [:]
        // Spans that were added at their end come late. The others are in order, and parts come after their whole.
        for index in members.sorted(by: { (entries[$0].start, $0) < (entries[$1].start, $1) }) {
            let entry = entries[index]
            let row: Int
            if let whole = entry.parent.flatMap({ rowOfEntry[$0] }) {
                row = whole
                rows[row].take(entry, now)
            } else {
                row = vacancies.take(at: entry.start) { rows[$0].end } ?? rows.count
                if row == rows.count { rows.append(Row(name: row == 0 ? track : "\(track) \(row + 1)")) }
                rows[row].take(entry, now)
                vacancies.occupy(row, until: rows[row].end)
            }
            rowOfEntry[index] = row
        }
        return rows
    }

    /// Which rows are free. Thousands of spans may overlap, so that to look at each row for each of them takes too
    /// long.
    private struct Vacancies {
        /// The lowest is the last.
        private var free: [Int] = []
        /// The one that ends first is the last. It may end later than was known: a part may outlast its whole.
        private var taken: [(end: Duration, row: Int)] = []

        /// The lowest row that is free at a time, no earlier than that of the last question.
        mutating func take(at time: Duration, end: (Int) -> Duration) -> Int? {
            while let first = taken.last, first.end <= time {
                taken.removeLast()
                free.insert(first.row) { $0 > first.row }
            }
            while let row = free.popLast() {
                guard end(row) > time else { return row }
                occupy(row, until: end(row))
            }
            return nil
        }

        mutating func occupy(_ row: Int, until end: Duration) {
            taken.insert((end, row)) { $0.end > end }
        }
    }
}

extension Array {
    /// Inserts an element behind those that come before it, which all stand in front of the others.
    fileprivate mutating func insert(_ element: Element, behind comesBefore: (Element) -> Bool) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if comesBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        insert(element, at: low)
    }
}
