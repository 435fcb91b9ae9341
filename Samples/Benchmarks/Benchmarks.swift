import Console
import Counters
import Foundation

/// Measures the library against hand-written code, and prints a table.
@main
struct Benchmarks {
    static let rows =
        Sequences.rows + Groups.rows + Calls.rows + Requests.rows + Queues.rows + Bursts.rows + InFlight.rows
        + Coalescing.rows + Caches.rows + Disks.rows + Operations.rows + Streams.rows + Centers.rows + Transfers.rows
        + Services.rows + Transports.rows

    static func main() async {
        switch Arguments(CommandLine.arguments.dropFirst()) {
        case .help:
            print(Arguments.usage)
        case .run(let effort, let filter, let asJSON):
            let rows = rows.filter { filter.isEmpty || $0.name.lowercased().contains(filter.lowercased()) }
            guard !rows.isEmpty else { leave("no row is called \(filter).", code: 2) }
            if !Machine.isOptimized { warn("not optimized, so the figures say little. Try -c release.") }
            instruction_counter_open()
            let work = Task { await measure(rows, effort, asJSON: asJSON) }
            Interrupt.first { _ in work.cancel() }
            let end = await work.value
            WebServer.stop()
            try? FileManager.default.removeItem(at: Scratch.all)
            if let end { leave(end.reason, code: end.code) }
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

    /// Returns the reason of an early end. Nil after a full run.
    private static func measure(
        _ rows: [Benchmark], _ effort: Effort, asJSON: Bool
    ) async -> (reason: String, code: Int32)? {
        if !asJSON { say(Table.header) }
        var found: [Report.Row] = []
        for row in rows {
            do {
                let reading = try await row.measure(effort)
                found.append(Report.Row(row, reading))
                if !asJSON { say(Table.row(row, reading)) }
            } catch {
                return Task.isCancelled ? ("interrupted.", 130) : ("\(row.name): \(error)", 1)
            }
        }
        guard asJSON else { return nil }
        do {
            say(try Report(found).json())
            return nil
        } catch {
            return ("\(error)", 1)
        }
    }

    /// Prints a line and flushes it, also into a pipe.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private static func leave(_ reason: String, code: Int32) -> Never {
        warn(reason)
        exit(code)
    }

    private static func warn(_ text: String) {
        FileHandle.standardError.write(Data("Benchmarks: \(text)\n".utf8))
    }
}
