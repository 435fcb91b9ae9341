/// Compares two reports, row by row.
///
/// Compares the ratios to the hand-written work where a row has one, because the load of the machine affects both
/// sides.
enum Comparison {
    static func lines(_ before: Report, _ after: Report) -> [String] {
        let earlier = Dictionary(before.rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let later = Set(after.rows.map(\.id))
        return [line(["", "before", "after", "ratio before", "ratio after", "change"])]
            + after.rows.map { row in
                guard let old = earlier[row.id] else { return line([row.name, "", text(row), "", "", "new"]) }
                return line([row.name, text(old), text(row), ratio(old), ratio(row), change(old, row)])
            }
            + before.rows.filter { !later.contains($0.id) }.map { line([$0.name, text($0), "", "", "", "gone"]) }
            + (before.system == after.system && before.cores == after.cores
                ? [] : ["", "The two were made on different machines, or only one of them was optimized."])
    }

    private static func line(_ cells: [String]) -> String {
        Table.line(cells, widths: [36, -12, -12, -14, -14, -10])
    }

    private static func text(_ row: Report.Row) -> String {
        row.ours.map { row.unit.text($0.figure) } ?? "–"
    }

    private static func quotient(_ row: Report.Row) -> Double? {
        guard let ours = row.ours?.figure, let theirs = row.theirs?.figure, theirs > 0 else { return nil }
        return ours / theirs
    }

    private static func ratio(_ row: Report.Row) -> String {
        quotient(row).map(Table.times) ?? "–"
    }

    private static func change(_ before: Report.Row, _ after: Report.Row) -> String {
        guard let old = quotient(before) ?? before.ours?.figure, let new = quotient(after) ?? after.ours?.figure,
            (quotient(before) == nil) == (quotient(after) == nil)
        else { return "–" }
        guard old != new else { return "same" }
        guard old > 0 else { return "–" }
        let percent = ((new / old - 1) * 100).rounded()
        return percent == 0 ? "same" : (percent > 0 ? "+" : "−") + "\(Int(abs(percent))) %"
    }
}
