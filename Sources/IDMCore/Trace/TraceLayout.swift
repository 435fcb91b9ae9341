/// Assigns the entries of a trace to rows. Spans of one track that overlap stand in rows below each other. Enclosed
/// entries stand in the row of their enclosing span.
struct TraceLayout {
    struct Row {
        let name: String
        /// The entries of the row, ordered by their beginning.
        fileprivate(set) var entries: [TraceEntry] = []
        fileprivate var end: Duration = .zero

        fileprivate mutating func append(_ entry: TraceEntry, _ now: Duration) {
            entries.append(entry)
            end = max(end, entry.end ?? now)
        }
    }

    /// The rows, grouped by track. Tracks stand in the order of their first entry.
    private(set) var rows: [Row] = []
    /// The time at which the last entry ends.
    private(set) var end: Duration = .zero

    /// - Parameters:
    ///   - entries: The entries, each after its enclosing span.
    ///   - now: The end of the spans that are still open.
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
        var freeRows = FreeRows()
        var rowOfEntry: [Int: Int] = [:]
        // A span that is added after its end stands behind later entries, so the entries are sorted by their beginning.
        // An enclosed entry still comes after its enclosing span.
        for index in members.sorted(by: { (entries[$0].start, $0) < (entries[$1].start, $1) }) {
            let entry = entries[index]
            let row: Int
            if let enclosing = entry.parent.flatMap({ rowOfEntry[$0] }) {
                row = enclosing
                rows[row].append(entry, now)
            } else {
                row = freeRows.take(at: entry.start) { rows[$0].end } ?? rows.count
                if row == rows.count { rows.append(Row(name: row == 0 ? track : "\(track) \(row + 1)")) }
                rows[row].append(entry, now)
                freeRows.occupy(row, until: rows[row].end)
            }
            rowOfEntry[index] = row
        }
        return rows
    }

    /// The rows that are free at a time. Thousands of spans may overlap, so a search through all rows for each span would
    /// take too long.
    private struct FreeRows {
        /// Free rows, the lowest last.
        private var free: [Int] = []
        /// Occupied rows, the earliest end last. A row may end later than noted: an enclosed entry can outlast its span.
        private var taken: [(end: Duration, row: Int)] = []

        /// Returns the lowest free row. Times must not decrease from call to call.
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
    /// Inserts an element behind the elements for which `comesBefore` is true. The array is partitioned by it.
    fileprivate mutating func insert(_ element: Element, behind comesBefore: (Element) -> Bool) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if comesBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        insert(element, at: low)
    }
}
