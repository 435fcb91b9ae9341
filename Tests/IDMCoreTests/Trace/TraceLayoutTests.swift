import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("TraceLayout", .timeLimit(.ample))
struct TraceLayoutTests {
    /// A simple implementation of the rule: each span in the lowest free row, enclosed entries in the row of their span.
    private func rows(_ entries: [TraceEntry], now: Duration) -> [[TraceEntry]] {
        var rows: [(end: Duration, entries: [TraceEntry])] = []
        var places: [Int: Int] = [:]
        for index in entries.indices.sorted(by: { (entries[$0].start, $0) < (entries[$1].start, $1) }) {
            let entry = entries[index]
            let enclosing = entry.parent.flatMap { places[$0] }
            let row = enclosing ?? rows.firstIndex { $0.end <= entry.start } ?? rows.count
            if row == rows.count { rows.append((.zero, [])) }
            rows[row].entries.append(entry)
            rows[row].end = max(rows[row].end, entry.end ?? now)
            places[index] = row
        }
        return rows.map(\.entries)
    }

    @Test("Each span stands in the lowest free row, enclosed entries with it", arguments: 0..<40)
    func rule(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var entries: [TraceEntry] = []
        let most = Int.random(in: 1...200, using: &random)
        for index in 0..<most {
            let start = Int.random(in: 0..<50, using: &random)
            let end = Bool.random(using: &random) ? start + Int.random(in: 0..<20, using: &random) : nil
            var entry = TraceEntry(
                "\(index)", on: "track", start: .seconds(start), end: end.map { .seconds($0) })
            if index > 0, Int.random(in: 0..<3, using: &random) == 0 {
                entry.parent = Int.random(in: 0..<index, using: &random)
            }
            entries.append(entry)
        }
        let layout = TraceLayout(entries, now: .seconds(70))
        #expect(layout.rows.map(\.entries) == rows(entries, now: .seconds(70)))
        #expect(layout.rows[0].name == "track" && Set(layout.rows.map(\.name)).count == layout.rows.count)
    }
}
