import IDMCore
import TestSupport
import Testing

/// Runs what the article on caches describes, and looks for what was heard among the lines that it shows.
@Suite("Cached, then remote", .timeLimit(.ample))
@MainActor
struct CachedThenRemoteTests {
    private struct Miss: Error, CustomStringConvertible {
        let description = "miss"
    }

    private let hit = ClosureDataProvider<String, String> { _ in "cached" }
    private let miss = ClosureDataProvider<String, String> { _ in throw Miss() }
    private let server = ClosureDataProvider<String, String> { _ in "remote" }

    @Test("thenRecall: a hit is heard first, then the server, each as a run of its own")
    func hitThenRemote() async throws {
        let remote = Integrator(server)
        let heard = await events(of: Integrator(hit)) { call in call.thenRecall(with: remote, "apple") }

        #expect(try shown().contains(heard))
    }

    @Test("thenRecall: after a miss the server is asked all the same")
    func missThenRemote() async throws {
        let remote = Integrator(server)
        let heard = await events(of: Integrator(miss)) { call in call.thenRecall(with: remote, "apple") }

        #expect(try shown().contains(heard))
    }

    @Test("A merged stream is one run with a value from each")
    func merged() async throws {
        let users = Integrator(hit.merged(with: server))
        let heard = await events(of: users) { call in call }

        #expect(try shown().contains(heard))
        #expect(try await users.request("apple") == "remote")
    }

    /// What the handlers hear of a call, as the article writes it.
    private func events(
        of integrator: Integrator<String, String>, chain: (IntegrationCall<String>) -> IntegrationCall<String>
    ) async -> String {
        let heard = Heard()
        let call = integrator.prepareCall("apple")
            .onBeginning { heard.events.append("onBeginning") }
            .onSuccess { value in heard.events.append("onSuccess(\(value))") }
            .onError { error in heard.events.append("onError(\(error))") }
            .onCompletion { heard.events.append("onCompletion") }
        await chain(call).call().finish()
        return heard.events.joined(separator: "  ")
    }

    private final class Heard {
        var events: [String] = []
    }

    private func shown() throws -> [String] {
        try Page.all().filter { $0.name == "CachedThenRemote.md" }.flatMap { try $0.blocks() }.map(\.code)
    }
}
