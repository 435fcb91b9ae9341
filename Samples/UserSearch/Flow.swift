import Foundation
import IDMCaching
import IDMCore
import IDMHTTP

/// 3. The flow: everything between an input and the handlers, composed in one place.
struct Flow: Sendable {
    /// Finds users. A newer call cancels the previous one. Each call delivers the cached result first, then the
    /// server's.
    let search: Integrator<String, Users>
    /// A user's profile and repositories, requested at the same time.
    let card: Integrator<String, Card>
    /// A user's profile, and then the repositories of that profile.
    let story: Integrator<String, Card>
    let trace: TraceRecorder

    init(server: URL, cache: URL, debounce: Duration) throws {
        let trace = TraceRecorder()
        self.trace = trace
        var configuration = ServiceConfiguration(baseURL: server, headers: ["Accept": "application/json"])
        configuration.idleTimeout = .seconds(10)
        let service = HTTPService(
            configuration: configuration, interceptors: [TraceInterceptor(trace), RetryInterceptor(1)])
        let accounts = try DiskCache<String, [Account]>(
            folder: cache, partition: server.host, entryLimit: 500, onOutcome: trace.outcomes(on: "cache"))

        let found = service.provider(for: AccountsResource.self).mapInput { (text: String) in
            AccountsResource(text: text)
        }
        search = Integrator(
            found.cached(in: accounts, policy: .cachedThenRemote).labelled(), model: Users.self,
            executing: .latest(debounce: debounce))

        let profile = service.provider(for: ProfileResource.self)
        let repositories = service.provider(for: RepositoriesResource.self)
        let both = (profile >><< repositories).mapInput { (login: String) in
            (ProfileResource(login: login), RepositoriesResource(login: login))
        }
        card = Integrator(both, model: Card.self, executing: .latest)

        let inOrder =
            profile.mapInput { (login: String) in ProfileResource(login: login) }
            >>>> { (profile: Profile) in
                (profile, try await repositories.request(RepositoriesResource(login: profile.login)))
            }
        story = Integrator(inOrder, model: Card.self, executing: .latest)

        trace.watch(search, as: "search") { "search “\($0)”" }
        trace.watch(card, as: "details") { "card of \($0)" }
        trace.watch(story, as: "details") { "story of \($0)" }
    }
}
