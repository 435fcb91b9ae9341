#if os(Linux)
internal import CIDMCurl
internal import Foundation

/// One cache of connections for each set of credentials, so that a connection which has carried those of one never
/// carries others. Used on one thread.
struct ConnectionPools {
    private struct Pool {
        let share: OpaquePointer?
        var users = 0
        /// The time at which an unused pool's connections are closed.
        var expiry: ContinuousClock.Instant
    }

    /// The lifetime of a pool without exchanges.
    private static let idleTime = Duration.seconds(60)
    private static let idleLimit = 64

    private var pools: [ConnectionScope: Pool] = [:]
    /// The header names seen so far, and whether each holds a credential.
    private var known: [String: Bool] = [:]
    private var idleCount = 0

    var hasIdle: Bool { idleCount > 0 }

    /// The earliest expiry of a pool.
    var nextExpiry: ContinuousClock.Instant? { pools.values.lazy.filter { $0.users == 0 }.map(\.expiry).min() }

    /// The pool for a request.
    mutating func enter(_ request: TransportRequest) -> (key: ConnectionScope, share: OpaquePointer?) {
        let key = scope(of: request)
        if pools[key] == nil {
            if idleCount >= Self.idleLimit { _ = closeOldest() }
            pools[key] = Pool(share: cidm_share_init(), expiry: .now)
        } else if pools[key]?.users == 0 {
            idleCount -= 1
        }
        pools[key]?.users += 1
        return (key, pools[key]?.share)
    }

    mutating func leave(_ key: ConnectionScope) {
        guard var pool = pools[key] else { return }
        pool.users -= 1
        if pool.users == 0 {
            pool.expiry = .now + Self.idleTime
            idleCount += 1
        }
        pools[key] = pool
    }

    /// Closes the connections of the pool that has been unused the longest. Returns false if all are used.
    mutating func closeOldest() -> Bool {
        guard let oldest = nextExpiry else { return false }
        removeExpired(oldest)
        return true
    }

    mutating func removeExpired(_ now: ContinuousClock.Instant) {
        for (key, pool) in pools where pool.users == 0 && pool.expiry <= now {
            pools[key] = nil
            idleCount -= 1
            if let share = pool.share { _ = cidm_share_cleanup(share) }
        }
    }

    /// Closes all connections. No other call may follow.
    func close() {
        for pool in pools.values {
            if let share = pool.share { _ = cidm_share_cleanup(share) }
        }
    }

    private mutating func scope(of request: TransportRequest) -> ConnectionScope {
        var scope = ConnectionScope(cookieOwner: request.cookieOwner)
        for field in request.headers {
            // The cookies of one owner change all the time, and their connections needn't.
            if field.name == .cookie, request.cookieOwner != nil { continue }
            if field.isSecret || isCredential(field) { scope.values.append(field.value) }
        }
        return scope
    }

    private mutating func isCredential(_ field: ServiceHeaders.Field) -> Bool {
        if let answer = known[field.name.spelling] { return answer }
        let answer = ServiceRedaction.standard.isBoundToOrigin(field)
        if known.count < 1_000 { known[field.name.spelling] = answer }
        return answer
    }
}

/// The credentials that a request carries.
struct ConnectionScope: Hashable, Sendable {
    var values: [String] = []
    var cookieOwner: TransportRequest.CookieOwner?
}
#endif
