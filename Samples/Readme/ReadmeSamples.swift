import Foundation
import IDMCaching
import IDMCore
import IDMHTTP

nonisolated struct Owner: Decodable, Sendable {
    let login: String
}

struct LoadRepository: DataProvider {
    func request(_ name: String) async throws -> Owner { Owner(login: name) }
}

struct LoadOwner: DataProvider {
    func request(_ owner: Owner) async throws -> String { owner.login }
}

struct LoadIssues: DataProvider {
    func request(_ name: String) async throws -> [String] { [name] }
}

@MainActor
private func readme() async throws {
    do {
        // sample: cached, then remote
        let memory = MemoryCache<String, [Repository]>(countLimit: 100)  // or a DiskCache, which outlives the app
        let search = Integrator(SearchRepositories().cached(in: memory), executing: .latest)
        // end
        search.cancel()
    }

    // sample: composed
    let owner = LoadRepository() >>>> LoadOwner()  // in order: LoadRepository().then(LoadOwner())
    let page = owner >><< LoadIssues()  // at once:  owner.combined(with: LoadIssues())
    let robust = page.timeout(.seconds(5)).retry(2)  // the result is a provider again
    // end
    _ = try await robust.request(("IDM", "IDM"))
}
