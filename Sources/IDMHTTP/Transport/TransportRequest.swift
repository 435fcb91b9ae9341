public import Foundation

/// A request that has been checked and is ready to travel: what a transport gets.
///
/// Everything in it can be handed on as it stands. It holds no line breaks where none may be, no header that is the
/// transport's own, and a body only where one is allowed.
public struct TransportRequest: Sendable {
    /// What the server is asked to do.
    public var method: ServiceRequest.Method
    /// The whole address, escaped.
    public var url: URL
    /// The header. The length of the body isn't in it.
    public var headers: ServiceHeaders
    /// What is sent.
    public var body: RequestBody.Encoded?
    /// The longest silence, for a transport that has a time-out of its own. Whoever asks the transport watches it as
    /// well.
    public var timeout: Duration
    /// What the transport is asked to do about a cache of its own: ``ServiceRequest/CachePolicy/reload`` where the service
    /// has one.
    public var cachePolicy: ServiceRequest.CachePolicy
    /// How much of a response is of any use. A transport that can should stop beyond it.
    public var limits: ServiceConfiguration.Limits
    /// To be called when bytes of the body have gone, with how many of them there are by now: upload progress is made
    /// of it, and the silence starts anew. On any thread, as often as it likes. A number that is less than one before
    /// isn't heard.
    public var didSend: @Sendable (_ sent: Int64) -> Void = { _ in }
    /// To be called when the request has to wait for others before it goes. No silence counts from then on, until
    /// ``didSend`` is called, with 0 when it goes.
    public var didQueue: @Sendable () -> Void = {}

    /// The names in the query whose values are secret here, whatever they are elsewhere.
    var secretNames: [String] = []
    /// What the template of the path was filled with. Some of it may be secret: the names aren't in the address.
    var pathParameters: [String: String] = [:]
    /// Whether a redirect has led to another origin, where what is secret wasn't taken along.
    var hasLeftOrigin = false

    /// Whose cookies the header holds, if they come from a store.
    var cookieOwner: CookieOwner?

    /// A store of cookies, as long as it belongs to the same user.
    struct CookieOwner: Sendable, Hashable {
        let store: ObjectIdentifier
        let generation: Int
    }

    /// Whether it goes past the service's cache.
    var skipsCache = false

    /// To be called with what has come, by a transport of ours. It then holds back the head of a response with a short
    /// body until all of it is there. Nil where whoever asks reads the body as it comes.
    var didReceive: (@Sendable (Arrival) -> Void)?

    /// What has come of a response.
    enum Arrival: Sendable {
        case head(status: Int, length: Int64?)
        /// So many bytes of the body by now.
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

    /// Whether it does no harm if it arrives twice.
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

    /// Nothing but the redacted description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
