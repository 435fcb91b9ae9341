import IDMCore

/// Answers with a delay of its own: an actor has to be waited for.
actor Directory {
    private let users = ["Ada": "London", "Alan": "Manchester", "Grace": "New York"]

    func names(_ prefix: String) -> [String] { users.keys.filter { $0.hasPrefix(prefix) }.sorted() }

    func town(of name: String) throws -> String {
        guard let town = users[name] else { throw UnknownUser(name: name) }
        return town
    }
}

struct UnknownUser: Error, CustomStringConvertible {
    let name: String
    var description: String { "\(name) is unknown" }
}

let directory = Directory()

struct Users: DataProvider {
    func request(_ prefix: String) async throws -> [String] { await directory.names(prefix) }
}

struct Town: DataProvider {
    func request(_ name: String) async throws -> String { try await directory.town(of: name) }
}

/// An interface as it was before `async`: a completion, and an object that stops the work.
struct LegacyDirectory: Sendable {
    final class Job: Sendable {
        private let work: Task<Void, Never>

        init(_ work: @escaping @Sendable () async -> Void) { self.work = Task { await work() } }
        func stop() { work.cancel() }
    }

    func search(_ prefix: String, completion: @escaping @Sendable (Result<[String], any Error>) -> Void) -> Job {
        Job {
            // A search for everything takes until it is stopped.
            if prefix.isEmpty { try? await Task.sleep(for: .seconds(3_600)) }
            completion(.success(await directory.names(prefix)))
        }
    }
}

struct LegacyUsers: CallbackDataProvider {
    func request(
        _ prefix: String, completion: @escaping @Sendable (Result<[String], any Error>) -> Void
    ) -> CancelHandler? {
        let job = LegacyDirectory().search(prefix, completion: completion)
        return {
            print("  the job is stopped")
            job.stop()
        }
    }
}
