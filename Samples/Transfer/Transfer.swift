import Console
import Foundation
import IDMHTTP

/// Several downloads at once, with a bar for each. Killed and started again, they go on where they were.
@main
struct Transfer {
    static let usage = """
        usage: Transfer [--folder <path>] [--speed <MB/s>]

        Downloads maps from a server of its own, several at once. Kill it and start it again: it goes on.

          --folder <path>   where the files go; a temporary folder unless it is given, gone at the end
          --speed <MB/s>    how fast each of them comes; 1 unless it is given

        keys: p pauses, r resumes, q ends and keeps what has come. Signals: USR1 pauses, USR2 resumes.
        """

    static func main() async {
        let arguments = Arguments("Transfer", usage: usage, options: ["--folder", "--speed"])
        guard let speed = Double(arguments.values["--speed"] ?? "1"), speed > 0, speed <= 10_000 else {
            arguments.leave("--speed is a number of MB/s. Try --help.", code: 2)
        }
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("idm-transfer-\(UUID())")
        defer { try? FileManager.default.removeItem(at: scratch) }
        do {
            let folder = arguments.values["--folder"].map { URL(fileURLWithPath: $0) } ?? scratch
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try await download(Maps(megabytesPerSecond: speed), into: folder)
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    static func download(_ maps: Maps, into folder: URL) async throws {
        // 1. A service says where things are. A center makes many transfers of it, and finds those of the last time.
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: maps.url))
        let center = try await TransferCenter(service, folder: folder.appendingPathComponent(".transfers"), width: 3)

        // 2. What isn't there yet is asked for, or goes on. The address changes each time, and the objects stay the same.
        let file = { (name: String) in folder.appendingPathComponent(name) }
        let missing = Maps.names.filter { !FileManager.default.fileExists(atPath: file($0).path) }
        for name in missing {
            let request = ServiceRequest(.get, "/{name}", pathParameters: ["name": name])
            center.download(ServiceDownload(request, to: .file(file(name)), object: name), id: name)
        }

        // 3. Keys and signals pause all of it, let it go on, or end it.
        let keys = Keys { key in
            switch key {
            case "p": center.pauseAll()
            case "r": center.resumeAll()
            default: Task { await center.close() }
            }
        }

        // 4. On a terminal each has a line that is drawn again and again, elsewhere one when it is over.
        if isatty(STDOUT_FILENO) == 1 {
            let screen = Screen(missing)
            for await total in center.progresses(of: missing) {
                screen.draw(missing.map { center.state(of: $0) }, total)
            }
        } else {
            for name in missing {
                for await state in center.states(of: name) where state.isOver { print("\(name): \(state.word)") }
            }
        }
        keys.end()
        await center.close()
    }
}
