import Console
import Foundation
import IDMCaching
import IDMCore

/// A list of headlines that shows what it has, and then what is new: an app that is launched again and again, online
/// and not.
@main @MainActor
struct CachedThenRemote {
    static let usage = """
        usage: CachedThenRemote

        Launches an app five times, which keeps its headlines on the disk: what is there is shown at once, and the answer
        of the server when it comes.

        options:
          --help   prints this
        """

    static func main() async {
        let arguments = Arguments("CachedThenRemote", usage: usage)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("idm-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        Interrupt.handle { try? FileManager.default.removeItem(at: folder) }
        do {
            try await CachedThenRemote(folder: folder).run()
        } catch {
            arguments.leave("\(error)", code: 1)
        }
    }

    let folder: URL
    let server = Server()
    let time = Time()

    func run() async throws {
        server.answer = ["Rain on Monday"]
        try await launch("first launch: nothing is there yet")

        time.advance(by: .seconds(3600))
        server.answer = ["Sun on Tuesday", "Rain on Monday"]
        try await launch("an hour later: what is there, and then what is new")

        time.advance(by: .seconds(60))
        try await launch("a minute later: the server has nothing new, and the screen isn't drawn twice")

        time.advance(by: .seconds(60))
        server.answer = nil
        try await launch("offline: the error is told, and the entry stays on the screen")

        time.advance(by: .seconds(60))
        try await launch("offline, and content with the entry: no error", policy: .remoteElseCache)
    }

    private func launch(_ title: String, policy: CachePolicy = .cachedThenRemote) async throws {
        print("\(title)")
        // 1. A cache on the disk outlives the process. Each launch opens it anew, which reads nothing yet.
        let disk = try DiskCache<String, [String]>(
            folder: folder, partition: "user-42", entryLimit: 100, clock: time.clock)

        // 2. A cached provider is a provider. This one says where a value comes from, and nothing twice.
        let headlines = Integrator(
            server.provider.cached(in: disk, policy: policy).labelled().removingDuplicates())

        // 3. One call hears both: the entry at once, the answer when it comes, and the error after the entry.
        await headlines.prepareCall("weather")
            .onSuccess { headlines in show(headlines) }
            .onError { error in print("  error   \(error)") }
            .onCompletion { print("  done\n") }
            .call().finish()
    }

    private func show(_ headlines: Sourced<[String]>) {
        let source =
            switch headlines.source {
            case .cache(let age?): "cache, \(age.components.seconds) s old"
            case .cache(nil): "cache, of unknown age"
            case .remote: "server"
            }
        print("  shown   \(headlines.value.joined(separator: " · "))  (\(source))")
    }
}
