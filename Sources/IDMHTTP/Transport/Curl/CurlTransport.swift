#if os(Linux)
public import Foundation
internal import IDMCore

/// Carries requests over the system's libcurl, which is bound at run time. The transport that services have on Linux.
///
/// ```swift
/// let transport = try CurlTransport(certificates: URL(fileURLWithPath: "/etc/company/ca.pem"))
/// let service = HTTPService(configuration: configuration, transport: transport)
/// ```
///
/// libcurl 7.80 or later has to be installed, as it is wherever FoundationNetworking is. What is missing is thrown as
/// an ``Unavailable``. To build a program with `--static-swift-stdlib`, FoundationNetworking needs curl's development
/// files as well, such as `libcurl4-openssl-dev`.
///
/// - Connections are kept and used again, over HTTP/1.1, and over HTTP/2 where a server with TLS offers it. One that
///   has carried credentials carries no others: `Authorization`, keys and other secret fields of a header, and the
///   cookies of one ``ServiceCookies``, each have connections of their own, which are closed when none of their
///   requests has been made for a minute.
/// - A connection on which a server has sent unrequested bytes is closed, and the request goes over a fresh
///   connection.
/// - A request that may not arrive twice, by its method and without an idempotency key, leaves once. If its connection
///   breaks before there is a response, that is a ``TransportFault``.
/// - It follows no redirects, and answers no server that asks for a user. It keeps no cookies, credentials or
///   responses. With ``ServiceRequest/CachePolicy/cacheOnly`` a request fails at once.
/// - It asks the proxies of the environment: `http_proxy`, `https_proxy` and `all_proxy`, but not for the hosts in
///   `no_proxy`. A user in the proxy's address is sent to the proxy alone.
/// - Bodies are sent as they are read, and read as their reader asks for them: a reader who is slow makes the server
///   wait, with less than 1 MB in memory. A body without a length is sent in chunks.
/// - Packed bodies (gzip, deflate, and br and zstd where libcurl has them) are unpacked as they are read, up to the
///   limit of the request. One that is cut off is a fault.
/// - Trailers and informational responses are read and dropped.
/// - Time is kept by the service. A cancellation ends an exchange at once, and is thrown as a `CancellationError`.
public final class CurlTransport: HTTPTransport {
    private static let sharedResult = Result<CurlTransport, Unavailable> { () throws(Unavailable) in try CurlTransport()
    }

    private let loop: CurlLoop

    /// Makes a transport with connections and a thread of its own. The thread ends when the transport is released and
    /// its exchanges have ended.
    ///
    /// - Parameters:
    ///   - connectionsPerHost: The most concurrent exchanges with one host, over HTTP/1.1. Further exchanges wait in
    ///     the order of their arrival, and their idle time-out doesn't count. Over HTTP/2 the limit is 100.
    ///   - connections: The most concurrent exchanges in all, up to a quarter of the descriptors that the process may
    ///     open.
    ///   - certificates: A file in PEM with the certificates of the authorities to trust. Nil for those of the system.
    public init(
        connectionsPerHost: Int = 6, connections: Int = 256, certificates: URL? = nil
    ) throws(Unavailable) {
        loop = try CurlLoop.start(
            CurlLoop.Settings(
                connectionsPerHost: connectionsPerHost, connections: connections, certificates: certificates?.path))
    }

    deinit { loop.submit(.close) }

    /// The transport that services share.
    public static func shared() throws(Unavailable) -> CurlTransport { try sharedResult.get() }

    /// The number of open sockets.
    var connectionCount: Int { loop.connections.withLock { $0.count } }

    /// Makes one exchange. Returns with the head of the response.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        guard request.cachePolicy != .cacheOnly else { throw TransportFault(.notCached) }
        guard request.body == nil || request.method.allowsBody else {
            throw ServiceRequest.Fault.unexpectedBody(request.method)
        }
        var bytes: HTTPBytes?
        if let body = request.body, body.data.map({ $0.count <= SegmentCursor.pieceLength }) != true {
            bytes = try body.bytes()
        }
        if request.body?.length == 0, let empty = bytes {
            // libcurl doesn't read it, and wouldn't find out that it isn't empty.
            for try await _ in empty {}
            bytes = nil
        }
        if let file = request.body?.file, let length = request.body?.length,
            let fault = RequestPayload.file(file, length: length).fault
        {
            throw fault
        }
        let exchange = CurlExchange(request, bytes, loop)
        let body = CurlBody(exchange)
        let head = try await exchange.head()
        if head.isPacked, request.method.getsBody(with: head.status) { try body.unpack(head.headers) }
        return TransportResponse(
            status: head.status, headers: head.headers, body: HTTPBytes { CurlCursor(body: body) })
    }
}

/// The body of a response, unpacked and within its limit. Ends the exchange when it is released.
private final class CurlBody: Sendable {
    private struct State: ~Copyable {
        var unpacker: BodyUnpacker?
        var count = 0

        init() {}
    }

    private let exchange: CurlExchange
    private let limit: Int
    private let state = Locked(State())

    init(_ exchange: CurlExchange) {
        self.exchange = exchange
        limit = exchange.request.limits.body
    }

    deinit { exchange.release() }

    func unpack(_ headers: ServiceHeaders) throws(TransportFault) {
        guard let coding = try BodyUnpacker.Coding(headers) else { return }
        let limit = limit
        state.withLock { $0.unpacker = BodyUnpacker(coding, limit: limit) }
    }

    func next(isolation: isolated (any Actor)?) async throws -> Data? {
        do {
            while true {
                if let piece = try unpacked() { return piece }
                guard let piece = try await exchange.next(isolation: isolation) else {
                    try state.withLock { state throws(TransportFault) in try state.unpacker?.end() }
                    return nil
                }
                if try accept(piece) { return piece }
            }
        } catch let fault as TransportFault {
            exchange.fail(fault)
            throw fault
        }
    }

    private func unpacked() throws(TransportFault) -> Data? {
        try state.withLock { state throws(TransportFault) in try state.unpacker?.next() }
    }

    /// Returns whether the piece is for the reader as it is.
    private func accept(_ piece: Data) throws(TransportFault) -> Bool {
        let limit = limit
        return try state.withLock { state throws(TransportFault) in
            guard state.unpacker == nil else {
                state.unpacker?.append(piece)
                return false
            }
            guard piece.count <= limit - state.count else { throw TransportFault(.bodyTooLarge(limit: limit)) }
            state.count += piece.count
            return true
        }
    }
}

private struct CurlCursor: ByteCursor {
    let body: CurlBody

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        try await body.next(isolation: isolation)
    }
}
#endif
