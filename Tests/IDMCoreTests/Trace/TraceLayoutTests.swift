import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

@Suite("The rows of a trace", .timeLimit(.ample))
struct TraceLayoutTests {
    /// The rows as the rule has it: each span in the lowest that is free, and parts with their whole.
    private func rows(_ entries: [TraceEntry], now: Duration) -> [[TraceEntry]] {
        var rows: [(end: Duration, entries: [TraceEntry])] = []
        var places: [Int: Int] = [:]
        for index in entries.indices.sorted(by: { (entries[$0].start, $0) < (entries[$1].start, $1) }) {
            let entry = entries[index]
            let whole = entry.parent.flatMap { places[$0] }
            let row = whole ?? rows.firstIndex { $0.end <= entry.start } ?? rows.count
            if row == rows.count { rows.append((.zero, [])) }
            rows[row].entries.append(entry)
            rows[row].end = max(rows[row].end, entry.end ?? now)
            places[index] = row
        }
        return rows.map(\.entries)
    }

    @Test("are those of the rule, however spans and their parts overlap", arguments: 0..<40)
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
        #expect(layout.rows.map(\.name).first == "track" && Set(layout.rows.map(\.name)).count == layout.rows.count)
    }
}
