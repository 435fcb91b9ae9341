public import Foundation

/// Where a service is, and what holds for each of its requests.
///
/// ```swift
/// var configuration = ServiceConfiguration(baseURL: url, headers: ["Accept-Language": "en"])
/// configuration.idleTimeout = .seconds(20)
/// ```
///
/// It can be read from a file as well: ``init(contentsOf:environment:variable:in:)``.
public struct ServiceConfiguration: Sendable {
    /// What every path stands below: http or https, with or without a path, a query and a slash at its end.
    public var baseURL: URL {
        didSet { base = BaseURL.reading(baseURL) }
    }
    /// What was made of the base URL, once for all requests.
    private(set) var base: Result<BaseURL, ServiceRequest.Fault>
    /// Whom requests go to. Nil if the base URL is none.
    var origin: ServiceOrigin? { try? base.get().origin }
    /// The header of each request, below the request's own.
    public var headers: ServiceHeaders
    /// The longest silence of a request, unless it has its own: how long nothing may come or go.
    public var idleTimeout: Duration
    /// The longest time for everything about a request, unless it has its own. Nil for no end.
    public var totalTimeout: Duration?
    /// How the ``cache`` is used, unless a request says it.
    public var cachePolicy: ServiceRequest.CachePolicy
    /// Where responses are kept to be used again. In memory unless you give another one; nil for none.
    public var cache: HTTPCache?
    /// What is done about a response that sends a request elsewhere.
    public var redirects: RedirectPolicy
    /// Where cookies are kept. Nil for none: what servers set is then handed over in the header of their responses, and
    /// never sent back.
    public var cookies: ServiceCookies?
    /// How much is taken from a server.
    public var limits: Limits
    /// What is left out wherever a request or a response is shown.
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

    /// How much is taken from a server before it is refused.
    public struct Limits: Sendable, Hashable {
        /// The most bytes of a body that is held in memory, once it is unpacked.
        public var body: Int
        /// The most bytes of a header.
        public var header: Int
        /// The most redirects that are followed for one request.
        public var redirects: Int

        /// Makes limits.
        public init(body: Int = 64 << 20, header: Int = 256 << 10, redirects: Int = 10) {
            self.body = body
            self.header = header
            self.redirects = redirects
        }
    }
}

extension ServiceConfiguration: CustomStringConvertible, CustomReflectable {
    /// The base URL, with its secrets redacted.
    public var description: String { redaction.url(baseURL.absoluteString).escapedForDescription() }

    /// Nothing but the redacted description: what is dumped holds no secrets either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension ServiceRequest {
    /// Returns the origin that the request goes to. Nil if its address, or the service's, has none.
    func origin(in configuration: ServiceConfiguration) -> ServiceOrigin? {
        guard isAbsolute, let link else { return configuration.origin }
        return ServiceOrigin(link)
    }
}
