public import Foundation
internal import IDMCore

/// A request of a service: a method, a path below the base URL, and its query, headers and body.
///
/// ```swift
/// let request = ServiceRequest(.get, "/users/{id}/posts", pathParameters: ["id": id], query: ["page": 2])
/// ```
///
/// A request is checked when it is sent: an invalid one is refused with a ``Fault``, and nothing of it is sent.
public struct ServiceRequest: Sendable {
    /// The method.
    public var method: Method
    /// The path below the base URL. `{name}` stands for a parameter, and so does `:name` at the start of a segment.
    public var path: String
    /// An address in place of a path: see ``init(_:link:query:headers:)``.
    public var link: URL?
    /// The values of the parameters in the path, which has to name each. They are escaped, so that none leaves its
    /// segment. A key may be written as the path has it, `:id`.
    public var pathParameters: [String: String] {
        didSet { pathParameters = Self.withoutColons(pathParameters) }
    }
    /// True if ``link`` is an address of the caller's own, which may have another origin than the service.
    var isAbsolute = false
    /// True if an ``AuthenticationInterceptor`` adds the user's credential. See ``withoutAuthentication()``.
    public var usesAuthentication = true
    /// The query. It follows the query of the base URL.
    public var query: Query
    /// The header, on top of the one that the service sends with each request.
    public var headers: ServiceHeaders
    /// The body.
    public var body: RequestBody?
    /// The longest time in which nothing is sent or received. Nil for the service's own.
    public var idleTimeout: Duration?
    /// The longest time for the whole request, with redirects, retries and pauses. Nil for the service's own.
    public var totalTimeout: Duration?
    /// The use of the ``ServiceConfiguration/cache``. Nil for the service's own policy.
    public var cachePolicy: CachePolicy?
    /// Receives the number of body bytes that were sent. It starts at 0 with each attempt and each redirect.
    var didSend: (@Sendable (_ sent: Int64) -> Void)?
    /// Receives the body each time it has been made, and can return a replacement.
    var didEncode: (@Sendable (RequestBody.Encoded) -> RequestBody.Encoded)?

    /// True if the request bypasses the cache: a transfer stores bytes in files of its own.
    var skipsCache = false
    /// The users of all requests of one transfer. Nil for a request by itself.
    var scope: CredentialScope?

    /// Makes a request. Nothing is checked before it is sent.
    public init(
        _ method: Method, _ path: String, pathParameters: [String: any ServiceQueryValue] = [:], query: Query = [:],
        headers: ServiceHeaders = [:], body: RequestBody? = nil, idleTimeout: Duration? = nil,
        totalTimeout: Duration? = nil,
        cachePolicy: CachePolicy? = nil
    ) {
        self.method = method
        self.path = path
        self.pathParameters = Self.withoutColons(
            pathParameters.compactMapValues { value in
                let values = value.queryContent.values
                return values.isEmpty ? nil : values.joined(separator: ",")
            })
        self.query = query
        self.headers = headers
        self.body = body
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
        self.cachePolicy = cachePolicy
    }

    /// Makes a request for an address from the server, such as the next page: absolute, relative to the base URL
    /// (`/users?page=2`, `?page=2`), or relative to a base of its own (`URL(string: "42", relativeTo: response.url)`).
    ///
    /// It must have the origin of the service. The query of the base URL isn't added.
    public init(_ method: Method = .get, link: URL, query: Query = [:], headers: ServiceHeaders = [:]) {
        self.init(method, "", query: query, headers: headers)
        self.link = link
    }

    /// Makes a request for an absolute address of any origin, such as a file at a CDN.
    ///
    /// To another origin than the service's it carries neither the user's credential nor secret headers of the service.
    /// For an address from a server, use ``init(_:link:query:headers:)``, which refuses other origins.
    public init(
        _ method: Method = .get, url: URL, query: Query = [:], headers: ServiceHeaders = [:], body: RequestBody? = nil
    ) {
        self.init(method, "", query: query, headers: headers, body: body)
        link = url
        isAbsolute = true
    }

    /// Returns the same request without the user's credential, such as a login. It doesn't wait for a refresh.
    ///
    /// ```swift
    /// let login = ServiceRequest(.post, "/login", body: .form(["user": user, "password": password]))
    /// let tokens = try await service.request(login.withoutAuthentication(), as: Tokens.self)
    /// ```
    public func withoutAuthentication() -> ServiceRequest {
        var request = self
        request.usesAuthentication = false
        return request
    }

    private static func withoutColons(_ parameters: [String: String]) -> [String: String] {
        guard parameters.keys.contains(where: { $0.hasPrefix(":") }) else { return parameters }
        return Dictionary(
            parameters.sorted { $0.key < $1.key }.map {
                ($0.key.hasPrefix(":") ? String($0.key.dropFirst()) : $0.key, $0.value)
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// The ways in which a stored response of the ``ServiceConfiguration/cache`` is used.
    public enum CachePolicy: Sendable, Hashable {
        /// A stored response answers while it is fresh (RFC 9111); a stale one is validated.
        case standard
        /// The server is asked, whatever is stored. Its response is stored.
        case reload
        /// A stored response answers, however old it is; without one the server is asked.
        case cacheElseLoad
        /// A stored response answers, however old it is; without one the request fails with
        /// ``TransportFault/Kind/notCached``, and the server isn't asked.
        case cacheOnly
    }
}

extension ServiceRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { description(redacted: .standard) }

    /// Method, path and query.
    public func description(redacted redaction: ServiceRedaction) -> String {
        let name = method.name.escapedForDescription()
        let query = query.encodedForURL(redacted: redaction)
        if let link {
            let address = redaction.url(link.absoluteString).escapedForDescription(limit: 1_000)
            return "\(name) \(address)\(query.isEmpty ? "" : "\(link.query == nil ? "?" : "&")\(query)")"
        }
        let values = pathParameters(redacted: redaction)
        let path = (try? PathTemplate(path).filled(with: values)) ?? path.escapedForDescription()
        return "\(name) \(path)\(query.isEmpty ? "" : "?\(query)")"
    }

    /// The values of the parameters as they may be shown.
    func pathParameters(redacted redaction: ServiceRedaction) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: pathParameters.map { ($0, redaction.isSecretParameter($0, $1) ? "redacted" : $1) })
    }

    /// The redacted description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The users for whom a call's requests are made, including its retries and replays. A call stays with its first user.
final class CredentialScope: Sendable {
    private let users = Locked<[ObjectIdentifier: Int]>([:])

    /// Returns true if a request may carry the credentials of a user; nil stands for no user. The scope keeps the first
    /// user that a keeper (an interceptor, or a cookie store) names, and refuses others.
    func include(_ user: Int?, of keeper: AnyObject) -> Bool {
        users.withLock { users in
            let owner = users[ObjectIdentifier(keeper)] ?? user
            users[ObjectIdentifier(keeper)] = owner
            return owner == user
        }
    }
}
