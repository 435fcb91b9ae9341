public import Foundation

/// A request that has been checked and is ready to travel: what a transport gets.
///
/// Everything in it can be handed on as it stands. It holds no line breaks where none may be, no header that is the
/// transport's own, and a body only where one is allowed.
public struct TransportRequest: Sendable {
    /// The method.
    public var method: ServiceRequest.Method
    /// The whole address, escaped.
    public var url: URL
    /// The header. The length of the body isn't in it.
    public var headers: ServiceHeaders
    /// The body.
    public var body: RequestBody.Encoded?
    /// The idle time-out, for a transport with a timer of its own. The service enforces it as well.
    public var timeout: Duration
    /// The use of the transport's own cache, if it has one: ``ServiceRequest/CachePolicy/reload`` where the service has
    /// a cache.
    public var cachePolicy: ServiceRequest.CachePolicy
    /// The limits of the response. A transport should stop beyond them if it can.
    public var limits: ServiceConfiguration.Limits
    /// Receives the total number of body bytes that were sent. It reports upload progress and resets the idle time-out.
    /// May be called on any thread, at any rate; decreasing numbers are ignored.
    public var didSend: @Sendable (_ sent: Int64) -> Void = { _ in }
    /// To be called when the request has to wait for others before it goes. No silence counts from then on, until
    /// ``didSend`` is called, with 0 when it goes.
    public var didQueue: @Sendable () -> Void = {}

    /// The names in the query whose values are secret here, whatever they are elsewhere.
    var secretNames: [String] = []
    /// The values of the path parameters. Some may be secret; their names aren't in the address.
    var pathParameters: [String: String] = [:]
    /// True if a redirect has led to another origin, to which no secrets were sent.
    var hasLeftOrigin = false

    /// Whose cookies the header holds, if they come from a store.
    var cookieOwner: CookieOwner?

    /// A store of cookies, as long as it belongs to the same user.
    struct CookieOwner: Sendable, Hashable {
        let store: ObjectIdentifier
        let generation: Int
    }

    /// True if the request bypasses the service's cache.
    var skipsCache = false

    /// Receives events of the response from the transports of this module, which then return the head of a response
    /// with a short body only with the whole body. Nil if the caller reads the body as it arrives.
    var didReceive: (@Sendable (Arrival) -> Void)?

    /// An event of a response.
    enum Arrival: Sendable {
        case head(status: Int, headers: ServiceHeaders)
        /// The total number of body bytes so far.
        case body(Int)
    }

    /// Makes a request of parts that have been checked.
    public init(
        _ method: ServiceRequest.Method, _ url: URL, headers: ServiceHeaders = [:], body: RequestBody.Encoded? = nil,
        timeout: Duration = .seconds(60), cachePolicy: ServiceRequest.CachePolicy = .standard,
        limits: ServiceConfiguration.Limits = ServiceConfiguration.Limits()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.cachePolicy = cachePolicy
        self.limits = limits
    }

    /// True if the request asks for a part of a body, which could not be unpacked.
    var isForPart: Bool { headers["Range"] != nil }

    /// True if the request may arrive twice.
    var isReplaySafe: Bool { method.isReplaySafe(with: headers) }
}

extension TransportRequest: CustomStringConvertible, CustomReflectable {
    /// Method and URL, with secrets redacted.
    public var description: String { description(redacted: .standard) }

    /// Method and URL.
    public func description(redacted redaction: ServiceRedaction) -> String {
        "\(method) \(address(redacted: redaction))"
    }

    /// The URL as it may be shown.
    func address(redacted redaction: ServiceRedaction) -> String {
        let secrets = pathParameters.filter { redaction.isSecretParameter($0.key, $0.value) }.values
        return redaction.hiding(secretNames).url(secrets.isEmpty ? url.absoluteString : address(without: secrets))
    }

    // Behind the host, wherever it stands: a redirect may take a value along to another place.
    private func address(without secrets: some Sequence<String>) -> String {
        let address = url.absoluteString
        let host = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        let path = address[host...].firstIndex(of: "/") ?? address.endIndex
        // One value may be the beginning of another one.
        let values = secrets.map { $0.percentEncoded(keeping: .unreserved) }.sorted { $0.count > $1.count }
        return address[..<path]
            + values.reduce(String(address[path...])) { $0.replacingOccurrences(of: $1, with: "redacted") }
    }

    /// The redacted description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
