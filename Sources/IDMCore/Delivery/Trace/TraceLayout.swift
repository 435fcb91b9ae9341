/// Where the entries of a trace are drawn: each track has as many rows as it needs for spans that overlap to stand
/// below each other. Parts stand in the row of the whole.
struct TraceLayout {
    struct Row {
        let name: String
        /// The entries in it, by the time they began.
        fileprivate(set) var entries: [TraceEntry] = []
        fileprivate var end: Duration = .zero
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
        var rowOfEntry: [Int: Int] = [:]
        // Spans that were added at their end come late. The others are in order, and parts come after their whole.
        for index in members.sorted(by: { (entries[$0].start, $0) < (entries[$1].start, $1) }) {
            let entry = entries[index]
            let row: Int
            if let whole = entry.parent.flatMap({ rowOfEntry[$0] }) {
                row = whole
            } else if let free = rows.firstIndex(where: { $0.end <= entry.start }) {
                row = free
            } else {
                row = rows.count
                rows.append(Row(name: rows.isEmpty ? track : "\(track) \(rows.count + 1)"))
            }
            rowOfEntry[index] = row
            rows[row].entries.append(entry)
            rows[row].end = max(rows[row].end, entry.end ?? now)
        }
        return rows
    }
}
