import IDMCaching
import IDMCore

extension Surroundings {
    private static func policies(_ memory: MemoryCache<String, [User]>) {
        // sample: two policies
        let users = SearchDataProvider().cached(in: memory)  // .cachedThenRemote
        // Shares requests and entries with users.
        let quick = users.policy(.cacheElseRemote(maxAge: .seconds(60)))
        // end
        _ = quick
    }

    @MainActor
    private static func labels(
        _ search: CachedDataProvider<SearchDataProvider, MemoryCache<String, [User]>>
    ) async throws {
        // sample: labels
        for try await users in search.labelled().values(for: "apple") {
            switch users.source {
            case .cache(let age): list.show(users.value, age: age)
            case .remote: list.show(users.value, age: .zero)
            }
        }
        // end
    }

    private static func duplicates(_ memory: MemoryCache<String, [User]>) {
        // sample: no duplicates
        let users = Integrator(SearchDataProvider().cached(in: memory).removingDuplicates())
        // end
        _ = users
    }
}
