import Foundation
import IDMCore
import IDMHTTP
import IDMHTTPTesting
import IDMTesting
import TestSupport
import Testing

/// The declarations of the article stand in the suite, so that no other test sees their names.
@Suite("The article on the search screen", .timeLimit(.ample))
struct BuildTheSearchScreenSamples {
    // sample: a test of the screen
    @Test("Of three letters in a row only the last asks the server")
    @MainActor
    func typing() async throws {
        try await TestScope.run {
            let transport = StubTransport()
            transport.on(
                .get, "/search/users", answer: .json(#"{"items": [{"login": "apple"}]}"#))
            let url = try #require(URL(string: "https://api.example.com"))
            let service = HTTPService(
                configuration: ServiceConfiguration(baseURL: url), transport: transport)
            let clock = ManualClock()
            let screen = SearchScreen(makeSearch(service, clock: clock))
            for text in ["a", "ap"] { screen.type(text) }
            let last = screen.type("app")
            await clock.advance(by: .milliseconds(300))
            await last?.finish()
            #expect(screen.logins == ["apple"] && !screen.isLoading)
            #expect(transport.requests.count == 1)
        }
    }
    // end

    @Test("an empty result, a lost connection and a server error differ")
    @MainActor
    func failures() async throws {
        let url = try #require(URL(string: "https://api.example.com"))
        let configuration = ServiceConfiguration(baseURL: url)
        let transports: [(StubTransport, String)] = [
            (StubTransport(answer: .json(#"{"items": []}"#)), "Nobody of that name."),
            (StubTransport(failing: URLError(.notConnectedToInternet)), "There is no connection."),
            (StubTransport(answer: .text("", status: 500)), "The search doesn't work right now."),
        ]
        for (transport, message) in transports {
            let clock = ManualClock()
            let service = HTTPService(configuration: configuration, transport: transport)
            let screen = SearchScreen(makeSearch(service, clock: clock))
            let call = screen.type("a")
            await clock.advance(by: .milliseconds(300))
            await call?.finish()
            #expect(screen.message == message)
        }
    }

    @Test("a card combines two answers in parallel or in sequence")
    func card() async throws {
        let transport = StubTransport()
        transport.on(.get, "/users/ada", answer: .json(#"{"login": "ada", "name": "Ada Lovelace"}"#))
        transport.on(.get, "/users/ada/repos", answer: .json(#"[{"name": "engine"}]"#))
        let url = try #require(URL(string: "https://api.example.com"))
        let service = HTTPService(
            configuration: ServiceConfiguration(baseURL: url), transport: transport)
        let card = try await makeCard(service).request("ada")
        #expect(card.title == "Ada Lovelace" && card.repositories == ["engine"])
        #expect(try await Card(from: order(service).request("ada")).repositories == ["engine"])
    }
}

extension BuildTheSearchScreenSamples {
    // sample: what the server has
    nonisolated struct Account: Codable, Sendable {
        let login: String
    }

    struct AccountsResource: DecodableResource {
        let text: String
        var request: ServiceRequest {
            ServiceRequest(.get, "/search/users", query: ["q": text])
        }
        typealias Value = [Account]
        var rootKeyPath: String? { "items" }
    }
    // end

    // sample: what the screen shows
    struct Accounts: DataModel {
        let logins: [String]

        init(from source: [Account]) throws {
            guard !source.isEmpty else { throw NobodyFound() }
            logins = source.map(\.login).sorted()
        }
    }

    struct NobodyFound: Error {}
    // end

    // sample: the search
    func makeSearch(
        _ service: HTTPService, clock: any Clock<Duration> = ContinuousClock()
    ) -> Integrator<String, Accounts> {
        let accounts = service.provider(for: AccountsResource.self)
            .mapInput { (text: String) in AccountsResource(text: text) }
        return Integrator(
            accounts, model: Accounts.self, executing: .latest(debounce: .milliseconds(300)),
            clock: clock)
    }
    // end

    // sample: the screen
    @MainActor
    final class SearchScreen {
        private(set) var logins: [String] = []
        private(set) var message = ""
        private(set) var isLoading = false
        private let search: Integrator<String, Accounts>

        init(_ search: Integrator<String, Accounts>) {
            self.search = search
        }

        @discardableResult
        func type(_ text: String) -> IntegrationTask<Accounts>? {
            message = ""
            guard !text.isEmpty else {
                search.cancel()
                logins = []
                return nil
            }
            return search.prepareCall(text)
                .onBeginning { [weak self] in self?.isLoading = true }
                .onSuccess { [weak self] accounts in self?.logins = accounts.logins }
                .onError { [weak self] error in self?.show(error) }
                .onCompletion { [weak self] in self?.isLoading = false }
                .call()
        }

        private func show(_ error: any Error) {
            switch error {
            case IntegrationError.model(is NobodyFound):
                message = "Nobody of that name."
            case let error as HTTPError where error.status == nil:
                message = "There is no connection."
            default:
                message = "The search doesn't work right now."
            }
        }
    }
    // end

    // sample: the details
    nonisolated struct Profile: Decodable, Sendable {
        let login: String
        let name: String
    }

    struct ProfileResource: DecodableResource {
        let login: String
        var request: ServiceRequest {
            ServiceRequest(.get, "/users/{login}", pathParameters: ["login": login])
        }
        typealias Value = Profile
    }

    nonisolated struct Repository: Decodable, Sendable {
        let name: String
    }

    struct RepositoriesResource: DecodableResource {
        let login: String
        var request: ServiceRequest {
            ServiceRequest(.get, "/users/{login}/repos", pathParameters: ["login": login])
        }
        typealias Value = [Repository]
    }

    struct Card: DataModel {
        let title: String
        let repositories: [String]

        init(from source: (Profile, [Repository])) {
            title = source.0.name
            repositories = source.1.map(\.name)
        }
    }

    func makeCard(_ service: HTTPService) -> Integrator<String, Card> {
        let profile = service.provider(for: ProfileResource.self)
        let repositories = service.provider(for: RepositoriesResource.self)
        let both = (profile >><< repositories).mapInput { (login: String) in
            (ProfileResource(login: login), RepositoriesResource(login: login))
        }
        return Integrator(both, model: Card.self, executing: .latest)
    }
    // end

    func order(_ service: HTTPService) -> some DataProvider<String, (Profile, [Repository])> {
        let profile = service.provider(for: ProfileResource.self)
        let repositories = service.provider(for: RepositoriesResource.self)
        // sample: one after the other
        let inOrder =
            profile.mapInput { (login: String) in ProfileResource(login: login) }
            >>>> { (profile: Profile) in
                let resource = RepositoriesResource(login: profile.login)
                return (profile, try await repositories.request(resource))
            }
        // end
        return inOrder
    }

    // sample: the service
    func makeService(_ url: URL) -> HTTPService {
        var configuration = ServiceConfiguration(
            baseURL: url, headers: ["Accept": "application/json"])
        configuration.idleTimeout = .seconds(10)
        return HTTPService(configuration: configuration, interceptors: [RetryInterceptor(1)])
    }
    // end

    func look(_ url: URL) -> TraceRecorder {
        // sample: a look at it
        let trace = TraceRecorder()
        var service = makeService(url)
        service.interceptors.insert(TraceInterceptor(trace), at: 0)
        let search = makeSearch(service)
        trace.watch(search, as: "search")
        print(search.structure)
        // end
        return trace
    }
}
