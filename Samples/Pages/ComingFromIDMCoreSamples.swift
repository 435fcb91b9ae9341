import IDMCore

/// A stand-in for an older API.
nonisolated struct LegacyDirectory: Sendable {
    struct Job: Sendable {
        func stop() {}
    }

    func search(
        _ query: String, then completion: @escaping @Sendable (Result<[String], any Error>) -> Void
    ) -> Job {
        completion(.success([query]))
        return Job()
    }
}

nonisolated let legacyDirectory = LegacyDirectory()

enum SearchError: Error {
    case nobodyFound
}

// sample: a provider that was one before
struct UserDataProvider: CallbackDataProvider {
    func request(
        _ query: String,
        completion: @escaping @Sendable (Result<[String], any Error>) -> Void
    ) -> CancelHandler? {
        let job = legacyDirectory.search(query) { result in completion(result) }
        return { job.stop() }
    }
}
// end

// sample: a model that was one before
struct Users: DataModel {
    let names: [String]

    init(from source: [String]) throws {
        guard !source.isEmpty else { throw SearchError.nobodyFound }
        names = source
    }
}
// end
