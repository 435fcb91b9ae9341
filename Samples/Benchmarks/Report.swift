import Foundation

/// The results of a run, as written to a file.
struct Report: Codable {
    struct Row: Codable {
        let name: String
        let opponent: String
        let unit: Unit
        let ours: Figures?
        let theirs: Figures?
        /// The figure that the limit applies to: a ratio, a difference, or the library's figure.
        let limit: String
        let isKept: Bool?
        let allocations: Sides?
        let instructions: Sides?
    }

    struct Figures: Codable {
        let minimum: Double
        let median: Double
        /// The figure that decides the row.
        let figure: Double
    }

    struct Sides: Codable {
        let ours: Double
        let theirs: Double
    }

    let cores: Int
    let system: String
    let rows: [Row]

    init(_ rows: [Row]) {
        cores = Machine.cores
        system = Machine.system
        self.rows = rows
    }

    /// Reads a report from a file.
    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw Fault("\(path) can't be read.") }
        do {
            self = try JSONDecoder().decode(Report.self, from: data)
        } catch {
            throw Fault("\(path) is no report of this program.")
        }
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension Report.Row {
    /// The identity of a row. Some rows compare the same work with different opponents.
    var id: String { "\(name) / \(opponent)" }

    init(_ benchmark: Benchmark, _ reading: Reading) {
        self.init(
            name: benchmark.name, opponent: benchmark.opponent, unit: benchmark.unit,
            ours: reading.ours.map(Report.Figures.init), theirs: reading.theirs.map(Report.Figures.init),
            limit: benchmark.limit.text(in: benchmark.unit), isKept: benchmark.limit.isKept(by: reading),
            allocations: reading.allocations.map { Report.Sides(ours: $0.ours, theirs: $0.theirs) },
            instructions: reading.instructions.map { Report.Sides(ours: $0.ours, theirs: $0.theirs) })
    }
}

extension Report.Figures {
    init(_ spread: Spread) {
        self.init(minimum: spread.minimum, median: spread.median, figure: spread.figure)
    }
}
