import Foundation
import IDMCore
import IDMHTTP
import IDMHTTPTesting
import IDMTestSupport
import IDMTesting
import Testing

// sample: the screen
nonisolated struct Song: Codable, Equatable, Sendable {
    let title: String
}

struct SongSearch: DecodableResource {
    let text: String
    typealias Value = [Song]
    var request: ServiceRequest { ServiceRequest(.get, "/songs", query: ["q": text]) }
}

@MainActor
final class SongScreen {
    private(set) var titles: [String] = []
    private(set) var message = ""
    private(set) var isLoading = false
    private let search: Integrator<String, [Song]>

    init(_ search: Integrator<String, [Song]>) {
        self.search = search
    }

    @discardableResult
    func type(_ text: String) -> IntegrationTask<[Song]> {
        search.prepareCall(text)
            .onBeginning { [weak self] in self?.isLoading = true }
            .onSuccess { [weak self] songs in self?.titles = songs.map(\.title) }
            .onError { [weak self] error in self?.message = error.localizedDescription }
            .onCompletion { [weak self] in self?.isLoading = false }
            .call()
    }
}
// end

@Suite("The tests of the page on testing a screen", .testScope, .timeLimit(.minutes(1)))
@MainActor
struct TestingAScreenTests {
    // sample: two answers
    @Test func theNewerSearchWins() async throws {
        let provider = ControlledDataProvider<String, [Song]>()
        let screen = SongScreen(Integrator(provider, executing: .latest))

        let older = screen.type("blue")
        let newer = screen.type("blue moon")
        try await provider.waitForRequest("blue moon").answer([Song(title: "Blue Moon")])
        await newer.finish()

        #expect(screen.titles == ["Blue Moon"])
        #expect(await older.outcome == .cancelled(.superseded))
    }
    // end

    // sample: an error
    @Test func anErrorIsShownAndTheSpinnerStops() async throws {
        let offline = StubDataProvider<String, [Song]>(
            failing: URLError(.notConnectedToInternet))
        let screen = SongScreen(Integrator(offline))

        await screen.type("blue").finish()

        #expect(!screen.message.isEmpty && !screen.isLoading)
    }
    // end

    // sample: the state of a view
    @Test func aFailedReloadKeepsTheSongs() async throws {
        let blue = [Song(title: "Blue Moon")]
        let answers = StubDataProvider<String, [Song]>(
            answers: [.success(blue), .failure(URLError(.timedOut))])
        let songs = IntegrationState(Integrator(answers))

        await songs.run("blue")
        await songs.refresh()

        #expect(songs.value == blue && songs.error != nil)
    }
    // end

    // sample: a debounce
    @Test func onlyThePauseInTypingIsSearched() async throws {
        let clock = ManualClock()
        let spy = SpyDataProvider(ValueDataProvider<String, [Song]>([]))
        let search = Integrator(
            spy, executing: .latest(debounce: .milliseconds(300)), clock: clock)
        let screen = SongScreen(search)

        screen.type("b")
        await clock.advance(by: .milliseconds(299))
        let last = screen.type("bl")
        await clock.advance(by: .milliseconds(300))
        await last.finish()

        #expect(spy.inputs == ["bl"])
    }
    // end

    // sample: the service
    @Test func theServerIsAskedForTheText() async throws {
        let transport = StubTransport()
        transport.on(.get, "/songs", answer: .json(#"[{"title": "Blue Moon"}]"#))
        let service = HTTPService(
            configuration: .init(baseURL: URL(string: "https://api.example.com")!),
            transport: transport)
        let screen = SongScreen(Integrator(service.provider { SongSearch(text: $0) }))

        await screen.type("blue").finish()

        #expect(screen.titles == ["Blue Moon"])
        #expect(transport.requests.map(\.url.query) == ["q=blue"])
    }
    // end
}
