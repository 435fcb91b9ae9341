#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport over URLSession: the default on Apple platforms, and on Linux where there is no libcurl for
/// ``CurlTransport``.
///
/// The sessions of a transport live as long as it does. Make one transport and share it, as services do with
/// ``shared``: many short-lived sessions aren't known to be safe.
///
/// - On Linux a request that may not arrive twice, by its method and without an idempotency key, asks for a connection
///   that closes after it: when a reused connection breaks, libcurl sends the request again on its own. If the server
///   keeps such a connection open, as one over HTTP/2 does, the request may still arrive twice. With an
///   `Idempotency-Key` the server can detect that, and the request uses shared connections.
/// - It follows no redirects, and answers no authentication challenges: a 401 is returned with its body.
/// - It stores nothing: no cookies, no credentials, no responses. With ``ServiceRequest/CachePolicy/cacheOnly`` a
///   request fails at once; with all others the server is asked.
/// - It uses the system's proxies: on Apple platforms those of the settings, on Linux those of the environment
///   (`http_proxy`, `https_proxy`, `all_proxy`, and `no_proxy` with the hosts that are reached directly, which doesn't
///   include this machine by default). A proxy can read everything in an unencrypted request, including credentials.
///   The credentials of the proxy's address are sent to the proxy alone; a challenge of a proxy is handled as one of a
///   server.
/// - The service measures all time-outs, to the millisecond.
/// - A cancellation ends an exchange at once with a `CancellationError`.
/// - A header or an unpacked body beyond its limit ends the transfer with a ``TransportFault``, as all other faults do.
///
/// ## Memory
///
/// URLSession receives a body at the speed of the network. This transport keeps 2 MB of a body in memory, blocks the
/// session for a moment when there is more, and then writes the rest to unnamed files in the temporary folder, which
/// vanish with the exchange or the process. Request bodies are sent from memory or from a file. Streams and multipart
/// bodies are written to a temporary file first, so that their length is known.
///
/// On Linux URLSession doesn't wait for the transport: bytes that arrive faster than they are written to disk
/// accumulate in memory. Request bodies are read into memory whole before they are sent, files included. Use
/// ``CurlTransport`` for bodies larger than memory.
///
/// ## Faults of FoundationNetworking on Linux
///
/// ``CurlTransport`` has none of these.
///
/// - A response with a trailer, a connection that breaks within a header, and a Content-Length of 2⁶³ − 1 end the
///   process.
/// - Bytes that a server sends on an idle connection, without a request, are the response to the next request on it.
/// - The header fields of a request have no defined order, and fields of one name are joined. So are those of a
///   response.
/// - While a packed body of hundreds of megabytes is unpacked, all other transfers of the session wait until the limit
///   ends it.
/// - While bytes arrive faster than the session reads them, it does nothing else: the connection of a stopped transfer
///   closes at the server's first pause. The caller of a cancelled or refused exchange doesn't wait for that.
/// - While a new connection waits for the server, the session polls it and uses most of a processor. A reused
///   connection doesn't.
public final class URLSessionTransport: HTTPTransport {
    /// The one that services share.
    public static let shared = URLSessionTransport()

    private let session: TransportSession
    #if canImport(FoundationNetworking)
    /// For what may not arrive twice.
    private let cautious: TransportSession
    #endif
    private let queues = SessionQueues()
    private let folder: URL

    /// Makes a transport with a session of its own.
    ///
    /// - Parameter connectionsPerHost: The maximum number of connections to one host. The session queues further
    ///   exchanges without reporting it, so their idle time-out runs while they wait: endless streams need additional
    ///   connections. On Linux exchanges that may not arrive twice have as many connections of their own.
    public convenience init(connectionsPerHost: Int = 6) {
        self.init(connectionsPerHost: connectionsPerHost, folder: FileManager.default.temporaryDirectory)
    }

    /// Makes a transport with a session of these settings: connectivity, TLS, proxies, `protocolClasses`, and the
    /// connections to one host.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.ephemeral
    /// configuration.httpMaximumConnectionsPerHost = 2
    /// let service = HTTPService(configuration: api, transport: URLSessionTransport(configuration: configuration))
    /// ```
    ///
    /// The transport overrides these settings, because the service does their work:
    ///
    /// - `httpCookieStorage`, `httpShouldSetCookies` and `httpCookieAcceptPolicy`: see ``ServiceConfiguration/cookies``.
    /// - `urlCache` and `requestCachePolicy`: see ``ServiceConfiguration/cache``.
    /// - `urlCredentialStorage`: see ``AuthenticationInterceptor``.
    /// - `httpAdditionalHeaders`: see ``ServiceConfiguration/headers``, which no redirect takes to another origin where
    ///   they are secret.
    /// - `timeoutIntervalForRequest` and `timeoutIntervalForResource`: see ``ServiceConfiguration/idleTimeout`` and
    ///   ``ServiceConfiguration/totalTimeout``. They also end a wait for connectivity.
    ///
    /// A background configuration is replaced by an ephemeral one: background sessions make no such exchanges.
    ///
    /// - Parameter configuration: The settings. Changes that are made to it later have no effect.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration, folder: FileManager.default.temporaryDirectory)
    }

    /// Makes a transport that writes temporary files into a folder.
    convenience init(connectionsPerHost: Int, folder: URL) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        self.init(configuration, folder: folder)
    }

    private init(_ configuration: URLSessionConfiguration, folder: URL) {
        self.folder = folder
        session = TransportSession(queues, configuration)
        #if canImport(FoundationNetworking)
        cautious = TransportSession(queues, configuration, keepsConnections: false)
        #endif
    }

    /// Makes one exchange. Returns when the header of the response is there.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        guard request.cachePolicy != .cacheOnly else { throw TransportFault(.notCached) }
        guard request.body == nil || request.method.allowsBody else {
            throw ServiceRequest.Fault.unexpectedBody(request.method)
        }
        #if canImport(FoundationNetworking)
        let payload = try await RequestPayload.inMemory(request.body) { request.didSend(0) }
        #else
        let payload = try await RequestPayload(request.body, folder: folder) { request.didSend(0) }
        #endif
        if let fault = payload.fault { throw fault }
        let exchange = exchange(request, payload)
        let body = SessionBody(exchange: exchange, payload: payload)
        let head = try await exchange.head()
        return TransportResponse(
            status: head.status, headers: head.headers, body: HTTPBytes { SessionCursor(body: body) })
    }

    /// An exchange that is still to begin.
    func exchange(_ request: TransportRequest, _ payload: RequestPayload) -> SessionExchange {
        let session = session(for: request)
        return SessionExchange(
            request, payload, queues: queues, task: { session.task(for: request, payload) }, folder: folder,
            didBegin: { session.add($0, $1) })
    }

    private func session(for request: TransportRequest) -> TransportSession {
        #if canImport(FoundationNetworking)
        // When a connection that was kept breaks before an answer, libcurl sends the request again on another one, and
        // asks nobody.
        return request.isReplaySafe ? session : cautious
        #else
        return session
        #endif
    }
}

/// Ends the exchange when its body is released.
private final class SessionBody: Sendable {
    let exchange: SessionExchange
    private let payload: RequestPayload

    init(exchange: SessionExchange, payload: RequestPayload) {
        self.exchange = exchange
        self.payload = payload
    }

    deinit {
        exchange.abandon()
        payload.remove()
    }
}

private struct SessionCursor: ByteCursor {
    let body: SessionBody
    var least = 1

    mutating func gather(_ least: Int) { self.least = least }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try await body.exchange.next(least: least, isolation: isolation)
    }
}
