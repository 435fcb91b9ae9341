import Foundation

/// Measures the library beside what one would write by hand, and prints a table.
@main
struct Benchmarks {
    static let rows =
        Sequences.rows + Groups.rows + Calls.rows + Requests.rows + Queues.rows + Bursts.rows + Flights.rows
        + Caches.rows + Disks.rows + Operations.rows + Streams.rows + Transfers.rows + Services.rows

    static func main() async {
        switch Arguments(CommandLine.arguments.dropFirst()) {
        case .help:
            print(Arguments.usage)
        case .run(let effort, let filter, let asJSON):
            let rows = rows.filter { filter.isEmpty || $0.name.lowercased().contains(filter.lowercased()) }
            guard !rows.isEmpty else { leave("no row is called \(filter).", code: 2) }
            await measure(rows, effort, asJSON: asJSON)
        case .compare(let before, let after):
            do {
                Comparison.lines(try Report(contentsOf: before), try Report(contentsOf: after)).forEach(say)
            } catch {
                leave("\(error)", code: 2)
            }
        case .mistake(let mistake):
            leave("\(mistake) Try --help.", code: 2)
        }
    }

    private static func measure(_ rows: [Benchmark], _ effort: Effort, asJSON: Bool) async {
        if !asJSON { say(Table.header) }
        var found: [Report.Row] = []
        for row in rows {
            do {
                let reading = try await row.measure(effort)
                found.append(Report.Row(row, reading))
                if !asJSON { say(Table.row(row, reading)) }
            } catch {
                leave("\(row.name): \(error)", code: 1)
            }
        }
        guard asJSON else { return }
        do {
            say(try Report(found).json())
        } catch {
            leave("\(error)", code: 1)
        }
    }

    /// Prints a line at once, also into a pipe.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private static func leave(_ reason: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data("Benchmarks: \(reason)\n".utf8))
        exit(code)
    }
}
