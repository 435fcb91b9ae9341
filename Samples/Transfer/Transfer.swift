import Console
import Foundation
import IDMHTTP

/// Several downloads at once, with a bar for each. Killed and started again, they go on where they were.
@main
struct Transfer {
    static let usage = """
        usage: Transfer <folder> [--speed <MB/s>]

        Downloads maps into a folder, several at once. Kill it and start it again: it goes on.

          --speed <MB/s>   how fast the server that comes with it sends each of them; 1 unless it is given
          keys             p pauses, r resumes, q ends and keeps what has come
        """

    static func main() async {
        let arguments = Arguments("Transfer", usage: usage, options: ["--speed"], operands: 1...1)
        guard let speed = Double(arguments.values["--speed"] ?? "1"), speed > 0, speed <= 10_000 else {
            arguments.leave("--speed is a number of MB/s. Try --help.", code: 2)
        }
        do {
            let folder = URL(fileURLWithPath: arguments.operands[0])
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let server = try Maps.server(megabytesPerSecond: speed)
            try await download(from: server.url, into: folder)
            await server.stop()
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    static func download(from url: URL, into folder: URL) async throws {
        // 1. A service says where things are. A center makes many transfers of it, and finds those of the last time.
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: url))
        let center = try await TransferCenter(service, folder: folder.appendingPathComponent(".transfers"), width: 3)

        // 2. What isn't there yet is asked for, or goes on. The address changes each time, and the objects stay the same.
        let file = { (name: String) in folder.appendingPathComponent(name) }
        let missing = Maps.names.filter { !FileManager.default.fileExists(atPath: file($0).path) }
        for name in missing {
            let map = ServiceDownload(ServiceRequest(.get, "/\(name)"), to: .file(file(name)), object: name)
            center.download(map, id: name)
        }

        // 3. Keys pause all of it, let it go on, or end it.
        var keys = Keys { key in
            if key == "p" { center.pauseAll() }
            if key == "r" { center.resumeAll() }
            if key == "q" { Task { await center.close() } }
        }

        // 4. On a terminal each has a line that is drawn again and again, elsewhere one when it is over.
        if isatty(STDOUT_FILENO) == 1 {
            var screen = Screen(names: missing)
            for await total in center.progresses(of: missing) {
                screen.draw(missing.map { center.state(of: $0) }, total)
            }
        } else {
            for name in missing {
                for await state in center.states(of: name) where state.isOver { print("\(name): \(state.word)") }
            }
        }
        keys?.end()
        await center.close()
    }
}
