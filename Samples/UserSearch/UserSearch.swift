import Console
import Foundation
import IDMHTTP

/// Input, provider, model, integrator and handlers in one program.
@main @MainActor
struct UserSearch {
    static let usage = """
        usage: UserSearch [<query>] [options]

        Searches for users. With a query, the program types it letter by letter, and each letter starts a search that
        cancels the previous one with the reason .superseded. Without a query, you type in the terminal.

        A second search for the same query shows the cached result at once, and then the server's. The server is part of
        this program unless you name another one.

        options:
          --base-url <url>   the server of an API like GitHub's, for example https://api.github.com
          --cache <folder>   the folder of the cache, instead of the user's caches folder
          --trace            prints all calls and requests with their times at the end
          --page <file>      writes them to an HTML page with a timeline
          --help             prints this text
        """

    static func main() async {
        let arguments = Arguments(
            "UserSearch", usage: usage, flags: ["--trace"], options: ["--base-url", "--cache"], files: ["--page"],
            optional: 1)
        let query = arguments.operands.first
        let terminal = query == nil ? Terminal() : nil
        guard query?.isEmpty == false || terminal != nil else {
            arguments.leave("a query is missing, and there is no terminal to type one in. Try --help.", code: 2)
        }
        guard query?.count ?? 0 <= 100 else {
            arguments.leave("the query is longer than 100 characters. Try --help.", code: 2)
        }
        do {
            let bundled = arguments.values["--base-url"] == nil ? try BundledServer.start() : nil
            let server = bundled?.url ?? named(arguments)
            let flow = try Flow(
                server: server, cache: cache(arguments), debounce: terminal == nil ? .zero : .milliseconds(200))
            var isDone = true
            if let terminal {
                await Interactive(flow, terminal).run()
                terminal.restore()
            } else {
                isDone = await OneShot(flow: flow).run(query ?? "")
            }
            if arguments.flags.contains("--trace") { show(flow.trace) }
            arguments.write(flow.trace.page, toFileOf: "--page")
            await bundled?.stop()
            if !isDone { exit(1) }
        } catch {
            terminal?.restore()
            arguments.leave("\(error)", code: 1)
        }
    }

    /// The server that the arguments name. Ends the program if the URL can't be requested.
    private static func named(_ arguments: Arguments) -> URL {
        guard let url = URL(string: arguments.values["--base-url"] ?? "") else {
            arguments.leave("--base-url isn't the URL of a server. Try --help.", code: 2)
        }
        do throws(ServiceRequest.Fault) {
            _ = try ServiceConfiguration(baseURL: url).resolve(ServiceRequest(.get, "/"))
            return url
        } catch {
            arguments.leave("\(error) Try --help.", code: 2)
        }
    }

    private static func cache(_ arguments: Arguments) -> URL {
        if let folder = arguments.values["--cache"] { return arguments.folder(folder) }
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        return (caches ?? FileManager.default.temporaryDirectory).appendingPathComponent("IDM.UserSearch")
    }
}
