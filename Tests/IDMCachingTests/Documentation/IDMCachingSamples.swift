import Foundation
import IDMCaching
import IDMCore
import Synchronization

extension Surroundings {
    @MainActor
    private static func overview() {
        // sample: a cache before a provider
        let memory = MemoryCache<String, [User]>(countLimit: 100)
        let users = Integrator(SearchDataProvider().cached(in: memory), executing: .latest)

        users.prepareCall("apple")
            .onSuccess { users in list.show(users) }  // from the cache, and then from the server
            .onError { error in banner.show(error) }  // also after an entry, which stays shown
            .call()
        // end
    }

    private static func emptying(_ memory: MemoryCache<String, [User]>) async throws {
        // sample: invalidation
        try await memory.invalidate("apple")
        try await memory.invalidate(tag: "team-7")
        try await memory.invalidateAll()
        // end

        // sample: a refresh
        let search = SearchDataProvider().cached(
            in: memory, policy: .cacheElseRemote(maxAge: .seconds(300)))
        let new = try await search.refreshing.request("apple")
        // end
        _ = new
    }

    private static func measuring(_ folder: URL) throws {
        // sample: outcomes
        let disk = try DiskCache<String, [User]>(
            folder: folder, partition: "user-42", byteLimit: 50_000_000,
            onOutcome: { outcome in
                switch outcome {
                case .hit, .joined: hits.add(1, ordering: .relaxed)
                case .miss, .stale: misses.add(1, ordering: .relaxed)
                case .damaged(_, let damage): log("An entry was damaged: \(damage)")
                case .failed(_, let error): log("\(error)")
                case .written, .dropped, .evicted: break
                }
            })
        // end
        _ = disk
    }
}
