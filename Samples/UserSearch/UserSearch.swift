import Console
import Foundation
import IDMTesting

/// The library's main job in one program: input, provider, model, integrator, handlers.
@main @MainActor
struct UserSearch {
    static let usage = """
        usage: UserSearch [<query>] [options]

        Searches users. With a query it types that letter by letter, and each letter searches at once: the handlers of the
        call that it replaces hear onCancel with the reason .superseded. Without one, in a terminal, you type.

        A second search for the same shows what the first one found at once, from a cache on disk, and then what the server
        says. The server is part of this program, unless you name another one.

        options:
          --base-url <url>   the server of an API like GitHub's, for example https://api.github.com
          --cache <folder>   where results are kept, instead of among the user's caches
          --trace            prints what happened and when, at the end
          --page <file>      writes that as a page with a timeline
          --help             prints this
        """

    static func main() async {
        let arguments = Arguments(
            "UserSearch", usage: usage, flags: ["--trace"], options: ["--base-url", "--cache", "--page"],
            operands: 0...1)
        let query = arguments.operands.first
        let terminal = query == nil ? Terminal() : nil
        guard query?.isEmpty == false || terminal != nil else {
            arguments.leave("what are you looking for? Try --help.", code: 2)
        }
        do {
            let bundled = arguments.values["--base-url"] == nil ? try BundledServer.start() : nil
            let server = bundled?.url ?? URL(string: arguments.values["--base-url"] ?? "")
            guard let server, ["http", "https"].contains(server.scheme), server.host?.isEmpty == false else {
                arguments.leave("that is not the URL of a server. Try --help.", code: 2)
            }
            let flow = try Flow(
                server: server, cache: cache(arguments), debounce: terminal == nil ? .zero : .milliseconds(200))
            if let terminal {
                await Interactive(flow, terminal).run()
                terminal.restore()
            } else {
                try await OneShot(flow: flow).run(query ?? "")
            }
            if arguments.flags.contains("--trace") { show(flow.trace) }
            arguments.write(flow.trace.page, toFileOf: "--page")
            await bundled?.stop()
        } catch {
            terminal?.restore()
            arguments.leave("\(error)", code: 1)
        }
    }

    private static func cache(_ arguments: Arguments) -> URL {
        if let folder = arguments.values["--cache"] { return arguments.folder(folder) }
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        return (caches ?? FileManager.default.temporaryDirectory).appendingPathComponent("IDM.UserSearch")
    }
}
