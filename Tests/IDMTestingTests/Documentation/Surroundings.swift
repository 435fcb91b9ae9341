import IDMCore
import IDMTesting

/// The types that the samples of comments use: a screen, an account, and quick providers.
///
/// The samples are extensions of it, so that no other test sees these names.
enum Surroundings {
    struct Offline: Error {}

    struct UserDataProvider: DataProvider {
        func request(_ query: String) async throws -> [String] { ["Ada"] }
    }

    @MainActor
    final class SearchScreen {
        private let users = Integrator(UserDataProvider())
        private var names: [String] = []

        func search(_ query: String) -> IntegrationTask<[String]> {
            users.prepareCall(query).onSuccess { names in self.names = names }.call()
        }
    }

    actor Account {
        private(set) var balance = 0

        func deposit(_ amount: Int) { balance += amount }
    }

    /// Looks once, after a minute.
    final class Poller: Sendable {
        private let looks = Observed(0)

        var lookCount: Int { looks.value }

        func run(on clock: any Clock<Duration>) async throws {
            try await clock.sleep(for: .seconds(60))
            looks.change { $0 += 1 }
        }
    }
}
