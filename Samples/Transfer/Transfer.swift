import Console
import Foundation
import IDMCore
import IDMHTTP

/// Downloads several files at once, with a progress bar for each. A killed download resumes at the next start.
@main @MainActor
struct Transfer {
    static let usage = """
        usage: Transfer <folder> [options]

        Downloads maps into a folder, three at a time. A terminal shows a progress bar for each: p pauses all of them, r
        resumes them, q ends the program and keeps the received bytes. Started again, also after a kill, the program resumes
        the downloads.

        options:
          --speed <MB/s>   the rate of the bundled server for each download; default 1
          --page <file>    writes all transfers with their times to an HTML page with a timeline
          --help           prints this text
        """

    static func main() async {
        let arguments = Arguments(
            "Transfer", usage: usage, options: ["--speed"], files: ["--page"], operands: ["<folder>"])
        guard let speed = Double(arguments.values["--speed"] ?? "1"), (0.001...10_000).contains(speed) else {
            arguments.leave("--speed must be a number of MB/s from 0.001 to 10000. Try --help.", code: 2)
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
            // The error of each is printed already.
            if states.contains(where: \.isFailed) { exit(1) }
        } catch {
            terminal?.restore()
            arguments.leave("\(error)", code: 1)
        }
    }

    /// Returns the last state of each download.
    static func download(
        from url: URL, into folder: URL, _ terminal: Terminal?, _ trace: TraceRecorder
    ) async throws -> [TransferState] {
        // 1. A service holds the server's address. A center runs many transfers over it, and restores those of the
        //    previous run.
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: url))
        let center = try await TransferCenter(service, folder: folder.appendingPathComponent(".transfers"), width: 3)
        trace.watch(center)

        // 2. Start or resume every missing file. The server's port differs in each run, so `object` identifies the
        //    file.
        let file = { (name: String) in folder.appendingPathComponent(name) }
        let missing = Maps.names.filter { !FileManager.default.fileExists(atPath: file($0).path) }
        for name in missing {
            if terminal == nil, let count = center.state(of: name)?.progress?.completed, count > 0 {
                print("\(name): resumes after \(count) bytes")
            }
            let map = ServiceDownload(ServiceRequest(.get, "/\(name)"), to: .file(file(name)), object: name)
            center.download(map, id: name)
        }

        guard !missing.isEmpty else {
            await center.close()
            print("All maps are in \(folder.path) already.")
            return []
        }

        // 3. Without a terminal, print a line when a download ends.
        guard let terminal else {
            for name in missing {
                for await state in center.states(of: name) where state.isOver { print("\(name): \(state.word)") }
            }
            await center.close()
            return missing.compactMap { center.state(of: $0) }
        }

        // 4. In a terminal, draw a bar for each download.
        let draw = {
            terminal.draw(
                bars(missing.map { ($0, center.state(of: $0)) }, together: center.progress(of: missing)))
        }

        // 5. Keys pause, resume or end the downloads.
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

        // 6. Every change of progress redraws the bars.
        for await _ in center.progresses(of: missing) { draw() }
        await center.close()
        return missing.compactMap { center.state(of: $0) }
    }
}
