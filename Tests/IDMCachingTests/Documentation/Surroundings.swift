import Foundation
import IDMCaching
import IDMCore
import Synchronization

/// What the samples take for granted: a screen, a provider that answers at once, a database.
///
/// The samples are extensions of it, so that no other test sees these names.
enum Surroundings {
    struct User: Codable, Sendable, Equatable {
        let name: String
    }

    struct SearchDataProvider: DataProvider {
        func request(_ query: String) async throws -> [User] { [User(name: query)] }
    }

    struct UserDataProvider: DataProvider {
        func request(_ id: Int) async throws -> User { User(name: "user \(id)") }
    }

    /// A part of a screen.
    @MainActor
    final class Surface {
        func show(_ users: [User]) {}
        func show(_ users: [User], age: Duration?) {}
        func show(_ error: any Error) {}
    }

    @MainActor static let list = Surface()
    @MainActor static let banner = Surface()

    static let hits = Atomic(0)
    static let misses = Atomic(0)
    static func log(_ line: String) {}

    struct Row: Sendable {
        let name: String
        let tags: Set<String>
        let time: Int64
        let era: UInt64
    }

    /// A table, and transactions on it that come one after the other.
    actor Database {
        private var rows: [Int: Row] = [:]

        func row(_ id: Int) throws -> Row? { rows[id] }

        func transaction(_ body: @Sendable (inout [Int: Row]) throws -> Void) throws {
            try body(&rows)
        }
    }
}
