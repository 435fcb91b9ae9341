internal import IDMCore
internal import Synchronization

/// Tells requests apart that are made by a refresh, for as long as it runs: they don't wait for it.
final class RefreshScope: Sendable {
    @TaskLocal private static var scopes: [ObjectIdentifier: RefreshScope] = [:]

    private let hasEnded = Atomic(false)

    /// Whether this is a part of a refresh of an interceptor. A task that has outlived the refresh isn't one any more.
    static func contains(_ interceptor: AnyObject) -> Bool {
        scopes[ObjectIdentifier(interceptor)]?.hasEnded.load(ordering: .acquiring) == false
    }

    /// Whether this is a part of a refresh of any interceptor.
    static var isRunning: Bool { scopes.values.contains { !$0.hasEnded.load(ordering: .acquiring) } }

    /// Makes a refresh of an interceptor.
    static func run<R: Sendable>(for interceptor: AnyObject, _ refresh: () async throws -> R) async rethrows -> R {
        let scope = RefreshScope()
        defer { scope.hasEnded.store(true, ordering: .releasing) }
        let scopes = scopes.merging([ObjectIdentifier(interceptor): scope]) { $1 }
        return try await LibraryTask.binding($scopes, to: scopes, refresh)
    }
}
