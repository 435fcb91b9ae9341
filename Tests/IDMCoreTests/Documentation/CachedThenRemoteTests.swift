import IDMCore
import TestSupport
import Testing

/// Makes the calls of the article on caches, and looks for their events in the article.
@Suite("Cached, then remote", .timeLimit(.ample))
@MainActor
struct CachedThenRemoteTests {
    private struct Miss: Error, CustomStringConvertible {
        let description = "miss"
    }

    private enum Way: CaseIterable {
        case recallAfterHit, recallAfterMiss, mergedStream
    }

    @Test("Each way delivers the events that the article shows", arguments: Way.allCases)
    private func events(way: Way) async throws {
        let miss = ClosureDataProvider<String, String> { _ in throw Miss() }
        let (cache, server) = (ValueDataProvider<String, String>("cached"), ValueDataProvider<String, String>("remote"))
        let remote = Integrator(server)
        let events = Events()
        let call =
            switch way {
            case .recallAfterHit: events.recorded(Integrator(cache)).thenRecall(with: remote, "apple")
            case .recallAfterMiss: events.recorded(Integrator(miss)).thenRecall(with: remote, "apple")
            case .mergedStream: events.recorded(Integrator(cache.merged(with: server)))
            }
        await call.call().finish()

        let blocks = try Page.all().filter { $0.name == "CachedThenRemote.md" }.flatMap { try $0.blocks() }
        // The article names the integrator of each line first.
        let shown = blocks.map { $0.code.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("on") } }
        #expect(shown.contains { $0.elementsEqual(events.lines) { $0 == $1 } })
    }

    @MainActor
    private final class Events {
        private(set) var lines: [String] = []

        func recorded(_ integrator: Integrator<String, String>) -> IntegrationCall<String> {
            integrator.prepareCall("apple")
                .onBeginning { self.lines.append("onBeginning") }
                .onSuccess { value in self.lines.append("onSuccess(\(value))") }
                .onError { error in self.lines.append("onError(\(error))") }
                .onCompletion { self.lines.append("onCompletion") }
        }
    }
}
