import Foundation

/// The table, line by line. Each row is printed when its figures are known.
enum Table {
    static let header = line([
        "", "ours (median)", "by hand (median)", "", "ratio", "limit", "", "allocations", "instructions",
    ])

    static func row(_ benchmark: Benchmark, _ reading: Reading) -> String {
        let isMissed = benchmark.limit.isKept(by: reading) == false
        return line([
            benchmark.name, benchmark.unit.text(reading.ours), benchmark.unit.text(reading.theirs), benchmark.opponent,
            relation(benchmark, reading), benchmark.limit.text(in: benchmark.unit), isMissed ? "over" : "",
            benchmark.unit == .time ? text(reading.allocations) : "",
            benchmark.unit == .time ? text(reading.instructions) : "",
        ])
    }

    private static func line(_ cells: [String]) -> String {
        line(cells, widths: [36, -19, -19, 21, -9, -9, 4, -13, -15])
    }

    /// One line of a table. Columns of a negative width are right-aligned.
    static func line(_ cells: [String], widths: [Int]) -> String {
        let line = zip(cells, widths).map { cell, width in
            let gap = String(repeating: " ", count: max(abs(width) - cell.count, 0))
            return width < 0 ? gap + cell : cell + gap
        }.joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    private static func relation(_ benchmark: Benchmark, _ reading: Reading) -> String {
        guard let ours = reading.ours?.figure, let theirs = reading.theirs?.figure else { return "–" }
        if case .over = benchmark.limit { return signed(ours - theirs, in: benchmark.unit) }
        return theirs > 0 && ours >= 0 ? times(ours / theirs) : "–"
    }

    private static func text(_ counts: (ours: Double, theirs: Double)?) -> String {
        guard let counts else { return "–" }
        return Unit.allocations.text(counts.ours) + " / " + Unit.allocations.text(counts.theirs)
    }

    static func times(_ ratio: Double) -> String {
        String(format: "%.2f ×", ratio)
    }

    static func signed(_ difference: Double, in unit: Unit) -> String {
        (difference < 0 ? "−" : "+") + unit.text(abs(difference))
    }
}

extension Limit {
    func text(in unit: Unit) -> String {
        switch self {
        case .times(let most): "≤ " + Table.times(most)
        case .over(let most): "≤ " + Table.signed(most, in: unit)
        case .figure(let most): "≤ " + unit.text(most)
        }
    }
}
