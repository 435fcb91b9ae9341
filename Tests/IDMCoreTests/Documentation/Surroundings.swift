import IDMCore

/// The declarations that the samples use: a screen, a directory, and providers that answer at once.
///
/// The samples are extensions of this type, so that no other test sees their names.
enum Surroundings {
    struct Directory {
        func users(matching query: String) async throws -> [String] { [query] }
    }

    struct LegacyDirectory {
        struct Job {
            func stop() {}
        }

        func search(_ query: String, then: @escaping @Sendable (Result<[String], any Error>) -> Void) -> Job {
            then(.success([query]))
            return Job()
        }
    }

    struct Library {
        func text(of page: Int) async throws -> String { "page \(page)" }
    }

    /// A part of a screen.
    @MainActor
    final class Surface {
        func start() {}
        func stop() {}
        func show(_ names: [String]) {}
        func show(_ error: any Error) {}
        func show(_ error: any Error, retry: RetryAction?) {}
        func show(_ fraction: Double) {}
    }

    @MainActor static let spinner = Surface()
    @MainActor static let list = Surface()
    @MainActor static let banner = Surface()
    @MainActor static let bar = Surface()

    enum SearchError: Error { case nobodyFound }
    struct ServerError: Error {}
    struct Article: Sendable { let id: Int }
    enum Topic: Sendable { case today }

    struct Profile: DataModel {
        let name: String
        init(from source: String) { name = source }
    }

    /// A provider of strings, for the names in the articles.
    protocol SampleDataProvider: DataProvider where Output == [String] {}

    struct TokenDataProvider: DataProvider {
        func request(_ input: Void) async throws -> String { "token" }
    }
    struct ProfileDataProvider: DataProvider {
        func request(_ token: String) async throws -> String { "profile of \(token)" }
    }
    struct InboxDataProvider: SampleDataProvider { typealias Input = String }
    struct NewsDataProvider: SampleDataProvider { typealias Input = Topic }
    struct CacheDataProvider: SampleDataProvider { typealias Input = String }
    struct ServerDataProvider: SampleDataProvider { typealias Input = String }
    struct SearchDataProvider: SampleDataProvider { typealias Input = String }
    struct AvatarDataProvider: SampleDataProvider { typealias Input = Int }
    struct ImageDataProvider: SampleDataProvider { typealias Input = Int }
    struct ArticleDataProvider: SampleDataProvider { typealias Input = Int }
    struct AccountDataProvider: SampleDataProvider { typealias Input = Void }
    struct PaymentDataProvider: SampleDataProvider { typealias Input = Int }
    struct EditDataProvider: SampleDataProvider { typealias Input = String }
    struct SaveDataProvider: SampleDataProvider { typealias Input = Article }
}

extension Surroundings.SampleDataProvider {
    func request(_ input: Input) async throws -> [String] { ["\(input)"] }
}

// Types inside of a function can't see static members of the type around it.
let directory = Surroundings.Directory()
let legacyDirectory = Surroundings.LegacyDirectory()
let library = Surroundings.Library()
