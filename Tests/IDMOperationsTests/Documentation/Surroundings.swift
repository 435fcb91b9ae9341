import Foundation
import IDMCore
import IDMOperations

// What the samples of the pages and of the comments take for granted.

/// The samples of the comments are extensions of it.
enum Surroundings {}

struct Account: Sendable {}
struct Image: Sendable {}

struct UserDataProvider: DataProvider {
    func request(_ query: String) async throws -> [String] { [query] }
}

struct CategoriesProvider: DataProvider {
    func request(_ account: Account) async throws -> [String] { ["books"] }
}

struct FriendsProvider: DataProvider {
    func request(_ account: Account) async throws -> [String] { ["Ada"] }
}

struct StoreProvider: DataProvider {
    func request(_ lines: [String]) async throws -> Int { lines.count }
}

struct BadgeProvider: DataProvider {
    func request(_ account: Account) async throws -> Int { 1 }
}

struct NotificationsProvider: DataProvider {
    func request(_ account: Account) async throws -> [String] { [] }
}

struct LoadImage: DataProvider {
    func request(_ name: String) async throws -> Image { Image() }
}

final class ResizeOperation: Operation, @unchecked Sendable {
    let resized: Image?
    init(_ image: Image) { resized = image }
}

func send(_ part: String) async throws {}

@MainActor
final class Screen {
    func start() {}
    func stop() {}
    func show(_ lines: [String]) {}
    func show(_ error: any Error) {}
}

protocol UserLoading: Sendable {}
struct Client: Sendable {}
struct RemoteUsers: UserLoading { let client: Client }
struct StubUsers: UserLoading {}
struct Inbox: Sendable { let client: Client }
