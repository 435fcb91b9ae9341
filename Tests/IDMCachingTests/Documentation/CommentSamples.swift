import Foundation
import IDMCaching
import IDMCore

/// What stands in the comments of stores and of cached providers.
extension Surroundings {
    private static func stores(url: URL, trace: TraceRecorder) throws {
        do {
            // sample: a disk
            let disk = try DiskCache<String, [User]>(folder: url, partition: "user-42")
            // end
            _ = disk
        }
        do {
            // sample: memory
            let memory = MemoryCache<String, [User]>(countLimit: 100)
            // end

            // sample: a cache before a provider
            let users = SearchDataProvider().cached(in: memory)
            // end
            _ = users
        }
        // sample: outcomes on a trace
        let memory = MemoryCache<String, [User]>(countLimit: 100, onOutcome: trace.outcomes(on: "memory"))
        // end
        _ = memory
    }
}
