import Foundation
import IDMHTTP

/// What the samples of comments take for granted: a few values of an API, and a screen that shows them.
///
/// The samples are extensions of it, so that no other test sees these names.
enum Surroundings {
    struct User: Codable, Sendable {
        let name: String
    }

    struct City: Decodable, Sendable {
        let name: String
    }

    struct Tokens: Codable, Sendable {
        let access: String
        let refresh: String
    }

    struct Envelope: Decodable, Sendable {
        let code: Int
    }

    struct APIFailure: Error, Decodable, Equatable {
        let code: Int
    }

    struct SearchFailure: Error, Decodable, Equatable {
        let reason: String
    }

    struct Screens: Sendable {
        @MainActor func showMaintenance() {}
    }

    @MainActor static func show(_ cities: [City]) {}
    @MainActor static func show(_ state: TransferState) {}
}
