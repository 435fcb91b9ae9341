import Console
import Foundation
import IDMCaching
import IDMCore

/// A list of headlines that shows its cached entry first and the server's answer after it. The sample launches the app
/// several times, online and offline.
@main @MainActor
struct CachedThenRemote {
    static let usage = """
        usage: CachedThenRemote

        Launches an app five times. The app caches its headlines on disk: it shows the cached entry at once, and the
        server's answer when it arrives.

        options:
          --help   prints this text
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
        try await launch("first launch: the cache is empty")

        time.advance(by: .seconds(3600))
        server.answer = ["Sun on Tuesday", "Rain on Monday"]
        try await launch("an hour later: the cached entry, then the new answer")

        time.advance(by: .seconds(60))
        try await launch("a minute later: the answer is unchanged, so the screen isn't drawn twice")

        time.advance(by: .seconds(60))
        server.answer = nil
        try await launch("offline: the cached entry, then the error")

        time.advance(by: .seconds(60))
        try await launch("offline, with .remoteElseCache: the cached entry, and no error", policy: .remoteElseCache)
    }

    private func launch(_ title: String, policy: CachePolicy = .cachedThenRemote) async throws {
        print("\(title)")
        // 1. A cache on disk outlives the process. Each launch opens it again; opening reads no entry.
        let disk = try DiskCache<String, [String]>(
            folder: folder, partition: "user-42", entryLimit: 100, clock: time.clock)

        // 2. A cached provider is a provider. `labelled()` adds the source of a value, `removingDuplicates()` drops an
        //    answer that equals the cached entry.
        let headlines = Integrator(
            server.provider.cached(in: disk, policy: policy).labelled().removingDuplicates())

        // 3. One call delivers both values, or the cached value and the error.
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
