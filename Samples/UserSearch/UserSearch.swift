import Console
import Foundation
import IDMHTTP

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
            "UserSearch", usage: usage, flags: ["--trace"], options: ["--base-url", "--cache"], files: ["--page"],
            operands: 0...1)
        let query = arguments.operands.first
        let terminal = query == nil ? Terminal() : nil
        guard query?.isEmpty == false || terminal != nil else {
            arguments.leave("what are you looking for? Try --help.", code: 2)
        }
        guard query?.count ?? 0 <= 100 else {
            arguments.leave("nobody's name is as long as that. Try --help.", code: 2)
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

    /// The server that the arguments name, if a request could travel there.
    private static func named(_ arguments: Arguments) -> URL {
        guard let url = URL(string: arguments.values["--base-url"] ?? "") else {
            arguments.leave("that is not the URL of a server. Try --help.", code: 2)
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
