public import Foundation
internal import IDMCore

/// The cookies of one user of a service: what its servers have set, in memory, and sent back to them.
///
/// A service stores no cookies unless ``ServiceConfiguration/cookies`` is set.
///
/// - A cookie is sent only to the origin (scheme, host and port) that set it, by the path, age and `Secure` rules of
///   RFC 6265.
/// - Copies of a configuration share its cookies. Use another store for another user, or ``removeAll()`` when the user
///   logs out: running requests then neither send cookies of the next user nor set any.
/// - The limits are 50 cookies of an origin, 20 origins and 4,096 bytes a cookie. Nothing is stored on disk.
///
/// A request with a `Cookie` header of its own is sent without these.
public final class ServiceCookies: Sendable {
    fileprivate struct State {
        var cookies: [ServiceOrigin: [ServiceCookie]] = [:]
        /// The origins, the most recent at the end.
        var origins: [ServiceOrigin] = []
        /// The origins that only redirects from other origins have led to.
        var foreign: Set<ServiceOrigin> = []
        /// Changes when all are removed.
        var generation = 0
    }

    fileprivate static let mostOfOrigin = 50
    fileprivate static let mostOrigins = 20

    private let now: @Sendable () -> Int
    private let state = Locked(State())
    /// The caches that hold responses to requests with these cookies.
    let caches = WipedCaches()

    /// Makes a place for cookies, with none in it.
    public convenience init() {
        self.init { Int(Date().timeIntervalSince1970) }
    }

    init(now: @escaping @Sendable () -> Int) {
        self.now = now
    }

    /// Removes all cookies. Running requests continue without any, and store none.
    public func removeAll() {
        state.withLock { state in
            state.cookies = [:]
            state.origins = []
            state.foreign = []
            state.generation += 1
        }
        caches.wipe()
    }

    var generation: Int { state.withLock { $0.generation } }

    /// Returns the names of the cookies for an address, in the order in which they are sent.
    public func names(for url: URL) -> [String] {
        cookies(for: url).found.map(\.name)
    }

    /// Returns the `Cookie` value for an address, nil if there are no cookies for it, and the generation of the
    /// cookies.
    func header(for url: URL) -> (value: String?, generation: Int) {
        let (found, generation) = cookies(for: url)
        return (found.isEmpty ? nil : found.map { "\($0.name)=\($0.value)" }.joined(separator: "; "), generation)
    }

    /// Stores the cookies of a response.
    ///
    /// - Parameter isForeign: True if a redirect from another origin has led to the response. The cookies of such an
    ///   origin are evicted first.
    func take(_ headers: ServiceHeaders, from url: URL, generation: Int, isForeign: Bool = false) {
        let fields = headers.values(of: .setCookie)
        guard !fields.isEmpty, let origin = ServiceOrigin(url) else { return }
        let now = now()
        let path = Self.path(of: url)
        let cookies = fields.compactMap { ServiceCookie($0, from: origin, path: path, now: now) }
        state.withLock { state in
            guard state.generation == generation else { return }
            for cookie in cookies { state.keep(cookie, of: origin, isForeign, now: now) }
        }
    }

    private func cookies(for url: URL) -> (found: [ServiceCookie], generation: Int) {
        let (all, generation) = state.withLock { state in
            (ServiceOrigin(url).flatMap { state.cookies[$0] } ?? [], state.generation)
        }
        guard !all.isEmpty else { return ([], generation) }
        let (now, path) = (now(), Self.path(of: url))
        let found = all.filter { !$0.isOver(at: now) && $0.isFor(path) }
        // Those of longer paths first, and of equals the older ones.
        return (
            found.enumerated().sorted {
                ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
            }
            .map(\.element), generation
        )
    }

    private static func path(of url: URL) -> String {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return path.hasPrefix("/") ? path : "/"
    }
}

extension ServiceCookies.State {
    fileprivate mutating func keep(_ cookie: ServiceCookie, of origin: ServiceOrigin, _ isForeign: Bool, now: Int) {
        if !isForeign { foreign.remove(origin) } else if cookies[origin] == nil { foreign.insert(origin) }
        var kept = cookies[origin] ?? []
        kept.removeAll { $0.isOver(at: now) }
        if let place = kept.firstIndex(where: { $0.name == cookie.name && $0.path == cookie.path }) {
            kept[place] = cookie
            if cookie.isOver(at: now) { kept.remove(at: place) }
        } else if !cookie.isOver(at: now) {
            kept.append(cookie)
        }
        cookies[origin] = kept.isEmpty ? nil : kept.suffix(ServiceCookies.mostOfOrigin)
        origins.removeAll { $0 == origin }
        if !kept.isEmpty { origins.append(origin) }
        while origins.count > ServiceCookies.mostOrigins {
            let place = origins.firstIndex(where: foreign.contains) ?? origins.startIndex
            cookies[origins.remove(at: place)] = nil
        }
        foreign.formIntersection(origins)
    }
}

extension ServiceCookies: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(state.withLock { $0.cookies.values.reduce(0) { $0 + $1.count } }) cookies" }

    /// The description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
