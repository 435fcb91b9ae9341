import Foundation

/// Measures the library beside what one would write by hand, and prints a table.
@main
struct Benchmarks {
    static let rows =
        Sequences.rows + Groups.rows + Calls.rows + Requests.rows + Queues.rows + Bursts.rows + Flights.rows
        + Caches.rows + Disks.rows + Operations.rows

    static func main() async {
        switch Arguments(CommandLine.arguments.dropFirst()) {
        case .help:
            print(Arguments.usage)
        case .run(let effort, let filter):
            let rows = rows.filter { filter.isEmpty || $0.name.lowercased().contains(filter.lowercased()) }
            guard !rows.isEmpty else { leave("no row is called \(filter).", code: 2) }
            await measure(rows, effort)
        case .mistake(let mistake):
            leave("\(mistake) Try --help.", code: 2)
        }
    }

    private static func measure(_ rows: [Benchmark], _ effort: Effort) async {
        say(Table.header)
        for row in rows {
            do {
                say(Table.row(row, try await row.measure(effort)))
            } catch {
                leave("\(row.name): \(error)", code: 1)
            }
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
