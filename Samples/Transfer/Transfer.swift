import Console
import Foundation
import IDMCore
import IDMHTTP

/// Several downloads at once, with a bar for each. Killed and started again, they go on where they were.
@main @MainActor
struct Transfer {
    static let usage = """
        usage: Transfer <folder> [options]

        Downloads maps into a folder, three at once. In a terminal each has a bar: p pauses all of them, r resumes them, q ends
        the program and keeps what has come. End it or kill it and start it again: it goes on.

        options:
          --speed <MB/s>   how fast the server that comes with it sends each of them; 1 unless it is given
          --page <file>    writes what happened and when, as a page with a timeline
          --help           prints this
        """

    static func main() async {
        let arguments = Arguments("Transfer", usage: usage, options: ["--speed"], files: ["--page"], operands: 1...1)
        guard let speed = Double(arguments.values["--speed"] ?? "1"), (0.001...10_000).contains(speed) else {
            arguments.leave("--speed is a number of MB/s, 0.001 or more and 10000 at most. Try --help.", code: 2)
        }
        let folder = arguments.folder(arguments.operands[0])
        let terminal = Terminal()
        do {
            let server = try Maps.server(megabytesPerSecond: speed)
            let trace = TraceRecorder()
            let states = try await download(from: server.url, into: folder, terminal, trace)
            terminal?.restore()
            await server.stop()
            arguments.write(trace.page, toFileOf: "--page")
            // Each has been told of where it stands.
            if states.contains(where: \.isFailed) { exit(1) }
        } catch {
            terminal?.restore()
            arguments.leave("\(error)", code: 1)
        }
    }

    /// Answers with what has become of each.
    static func download(
        from url: URL, into folder: URL, _ terminal: Terminal?, _ trace: TraceRecorder
    ) async throws -> [TransferState] {
        // 1. A service says where things are. A center makes many transfers of it, and finds those of the last time.
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: url))
        let center = try await TransferCenter(service, folder: folder.appendingPathComponent(".transfers"), width: 3)
        trace.watch(center)

        // 2. What isn't there yet is asked for, or goes on. The address changes each time, and the objects stay the
        //    same.
        let file = { (name: String) in folder.appendingPathComponent(name) }
        let missing = Maps.names.filter { !FileManager.default.fileExists(atPath: file($0).path) }
        for name in missing {
            if terminal == nil, let count = center.state(of: name)?.progress?.completed, count > 0 {
                print("\(name): goes on after \(count) bytes")
            }
            let map = ServiceDownload(ServiceRequest(.get, "/\(name)"), to: .file(file(name)), object: name)
            center.download(map, id: name)
        }

        guard !missing.isEmpty else {
            await center.close()
            print("Nothing is missing.")
            return []
        }

        // 3. Without a terminal there is a line for each when it is over.
        guard let terminal else {
            for name in missing {
                for await state in center.states(of: name) where state.isOver { print("\(name): \(state.word)") }
            }
            await center.close()
            return missing.compactMap { center.state(of: $0) }
        }

        // 4. On a terminal each has a bar.
        let draw = {
            terminal.draw(
                bars(missing.map { ($0, center.state(of: $0)) }, together: center.progress(of: missing)))
        }

        // 5. Keys pause all of it, let it go on, or end it.
        let keys = Task {
            for await key in terminal.keys {
                switch key {
                case .character("p"): center.pauseAll()
                case .character("r"): center.resumeAll()
                case .character("q"), .leave: await center.close()
                default: break
                }
                draw()
            }
        }
        defer { keys.cancel() }

        // 6. The bars are drawn again whenever one of them has come further.
        for await _ in center.progresses(of: missing) { draw() }
        await center.close()
        return missing.compactMap { center.state(of: $0) }
    }
}
