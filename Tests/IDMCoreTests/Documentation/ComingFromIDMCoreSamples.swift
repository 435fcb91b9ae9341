import IDMCore

extension Surroundings {
    private static func comingFromIDMCore() async throws {
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

        _ = try await UserDataProvider().model(Users.self).request("apple")
    }
}
