public import Foundation

/// The address of a service, and the settings of all its requests.
///
/// ``init(contentsOf:environment:variable:in:)`` reads a configuration from a file.
public struct ServiceConfiguration: Sendable {
    /// The http or https URL below which all paths are. It may have a path and a query.
    public var baseURL: URL {
        didSet { base = BaseURL.reading(baseURL) }
    }
    private(set) var base: Result<BaseURL, ServiceRequest.Fault>
    /// Nil if the base URL is invalid.
    var origin: ServiceOrigin? { try? base.get().origin }
    /// The header of each request, below the request's own.
    public var headers: ServiceHeaders
    /// The longest time in which nothing is sent or received, unless a request has its own.
    public var idleTimeout: Duration
    /// The longest time for a whole request, unless it has its own. Nil for no limit.
    public var totalTimeout: Duration?
    /// The use of the ``cache``, unless a request has a policy of its own.
    public var cachePolicy: ServiceRequest.CachePolicy
    /// The cache of responses: in memory by default. Nil for none.
    public var cache: HTTPCache?
    /// The policy for responses that redirect a request.
    public var redirects: RedirectPolicy
    /// The store of cookies. Nil for none: `Set-Cookie` then stays in the header of the response, and no cookie is
    /// sent.
    public var cookies: ServiceCookies?
    /// The limits for responses.
    public var limits: Limits
    /// The redaction of every description of a request or a response.
    public var redaction: ServiceRedaction

    /// Makes a configuration. The base URL is checked when a request is sent.
    public init(
        baseURL: URL, headers: ServiceHeaders = [:], idleTimeout: Duration = .seconds(60),
        totalTimeout: Duration? = .seconds(600), cachePolicy: ServiceRequest.CachePolicy = .standard,
        redirects: RedirectPolicy = .follow, limits: Limits = Limits(), redaction: ServiceRedaction = .standard,
        cookies: ServiceCookies? = nil, cache: HTTPCache? = HTTPCache()
    ) {
        self.baseURL = baseURL
        base = BaseURL.reading(baseURL)
        self.headers = headers
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
        self.cachePolicy = cachePolicy
        self.redirects = redirects
        self.limits = limits
        self.redaction = redaction
        self.cookies = cookies
        self.cache = cache
    }

    /// The limits above which a response is refused.
    public struct Limits: Sendable, Hashable {
        /// The most bytes of an unpacked body in memory.
        public var body: Int
        /// The most bytes of an unpacked body that is opened or downloaded.
        public var openedBody: Int
        /// The most bytes of a header.
        public var header: Int
        /// The most redirects that are followed for one request.
        public var redirects: Int

        /// Makes limits.
        public init(
            body: Int = 64 << 20, header: Int = 256 << 10, redirects: Int = 10, openedBody: Int = .max
        ) {
            self.body = body
            self.openedBody = openedBody
            self.header = header
            self.redirects = redirects
        }
    }
}

extension ServiceConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { redaction.url(baseURL.absoluteString).escapedForDescription() }

    /// The redacted description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension ServiceRequest {
    /// Returns the origin that the request goes to. Nil if its address, or the service's, has none.
    func origin(in configuration: ServiceConfiguration) -> ServiceOrigin? {
        guard isAbsolute, let link else { return configuration.origin }
        return ServiceOrigin(link)
    }
}
