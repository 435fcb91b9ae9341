import Foundation
import IDMCaching
import IDMCore
import IDMHTTP

nonisolated struct Tokens: Codable, Equatable, Sendable {
    let access: String
    let refresh: String
}

/// A stand-in for a keychain.
nonisolated final class TokenStore: Sendable {
    func load() -> Tokens? { nil }
    func save(_ tokens: Tokens?) {}
}

// sample: a session that can be left
@MainActor
struct Session {
    let service: HTTPService
    let authentication: AuthenticationInterceptor<BearerAuthenticator<Tokens>>
    let memory: MemoryCache<String, [Note]>
    let disk: DiskCache<Int, Note>
    let tokens: TokenStore
    let notes: IntegrationState<String, [Note]>

    func logOut() async throws {
        authentication.logOut()
        tokens.save(nil)
        notes.reset()
        try await memory.invalidateAll()
        try await disk.wipe()
        try await service.configuration.cache?.removeAll()
        service.configuration.cookies?.removeAll()
    }
}
// end

private func partition(_ folder: URL, _ userID: String) throws -> DiskCache<Int, Note> {
    // sample: a folder for each user
    let disk = try DiskCache<Int, Note>(folder: folder, partition: userID, entryLimit: 500)
    // end
    return disk
}
