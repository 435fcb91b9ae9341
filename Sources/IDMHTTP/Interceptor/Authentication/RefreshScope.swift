internal import IDMCore
internal import Synchronization

/// Marks the requests that a refresh makes while it runs: they don't wait for it.
final class RefreshScope: Sendable {
    @TaskLocal private static var scopes: [ObjectIdentifier: RefreshScope] = [:]

    private let hasEnded = Atomic(false)

    /// Returns true within a running refresh of an interceptor. A task that outlives the refresh is no longer part of
    /// it.
    static func contains(_ interceptor: AnyObject) -> Bool {
        scopes[ObjectIdentifier(interceptor)]?.hasEnded.load(ordering: .acquiring) == false
    }

    /// True within a running refresh of any interceptor.
    static var isRunning: Bool { scopes.values.contains { !$0.hasEnded.load(ordering: .acquiring) } }

    /// Makes a refresh of an interceptor.
    static func run<R: Sendable>(for interceptor: AnyObject, _ refresh: () async throws -> R) async rethrows -> R {
        let scope = RefreshScope()
        defer { scope.hasEnded.store(true, ordering: .releasing) }
        let scopes = scopes.merging([ObjectIdentifier(interceptor): scope]) { $1 }
        return try await LibraryTask.binding($scopes, to: scopes, refresh)
    }
}
