internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Carries requests over URLSession, in a way that is safe on Apple's platforms and on Linux.
///
/// The sessions of a transport live as long as it does. Make one and share it, as services do with ``shared``; what
/// many short-lived sessions do isn't known to be safe.
///
/// - On Linux a request that may not arrive twice, by its method and without an idempotency key, asks for a connection
///   of its own, that closes behind it: when one breaks that was kept open, libcurl sends the request again on another
///   one, and asks nobody. Where a server keeps such a connection open all the same, as one over HTTP/2 does, it may
///   still arrive twice. With an `Idempotency-Key` the server can tell, and the request shares the connections of the
///   others.
/// - It follows no redirects, and answers no server that asks for a user: a 401 comes with its body.
/// - It keeps nothing: no cookies, no credentials, no responses. With ``ServiceRequest/CachePolicy/cacheOnly`` a
///   request fails at once; all others ask the server. A cache of values stands before a service, and not in it.
/// - It asks the proxies that the system says: on Apple's platforms those of its settings, on Linux those of the
///   environment. There `http_proxy`, `https_proxy` and `all_proxy` are obeyed, and `no_proxy` with the hosts that are
///   asked directly; this machine is one of them only if it is named. Of a request that isn't encrypted a proxy sees
///   everything, credentials included. A user in the proxy's address is told to the proxy alone, and a proxy that asks
///   for another one is answered as a server is.
/// - Time is kept by the service, to the millisecond.
/// - A cancellation ends an exchange at once, wherever it is, and is told as a `CancellationError`.
/// - A header that is too large, and a body that is once it is unpacked, end the transfer, and are told as a
///   ``TransportFault``, as everything else is that goes wrong.
///
/// Some things on Linux are beyond its reach, for they happen in FoundationNetworking:
///
/// - A connection that breaks off inside of a response's header ends the process. So does a Content-Length of 2⁶³ − 1,
///   which no body has.
/// - The header of a request travels in no certain order, and fields of one name as one. Those of a response that have
///   one name come as one.
/// - While a packed body of hundreds of megabytes is unpacked all other transfers of the session wait, until the limit
///   ends it. They wait as well while a file that is sent is read from a disk that takes its time, and for two seconds
///   at a time where the app keeps the threads of the global queue so busy that what has been sent isn't freed.
/// - As long as bytes come faster than the session reads them, it does nothing else, so that the connection of a
///   stopped transfer closes at the server's first breath. Whoever cancelled, or was refused, has been told by then.
/// - While a new connection waits for the server, the session asks again and again whether it can be written to, and
///   keeps most of a processor busy with that. A connection that was kept open, and is used again, waits in silence.
///
/// ## Memory
///
/// URLSession brings a body as fast as the network does, whoever reads it, and nothing that it offers makes it wait: on
/// Linux a suspended task loses its connection and begins anew when it is resumed, behind the bytes that came before; a
/// delegate that takes its time lets the rest of the body pile up; the answer to a response is not listened to. So this
/// transport takes what comes, keeps 2 MB of it in memory, and holds the session up for a moment when there is more.
/// What the reader hasn't taken by then is put aside in files without a name in the temporary folder, which are gone
/// with the exchange or the process. Memory is bounded, however slow the reader is and whatever the server can do; the
/// disk holds what is still to be read.
///
/// What is sent goes from memory or from a file. Streams and multipart bodies are written to a temporary file first,
/// for their length to be known and for a slow one to hold nobody up. On Linux that file has no name either.
public final class URLSessionTransport: HTTPTransport {
    /// The one that services share.
    public static let shared = URLSessionTransport()

    private let session: TransportSession
    #if canImport(FoundationNetworking)
    /// For what may not arrive twice.
    private let cautious: TransportSession
    #endif
    private let queues = SessionQueues()
    private let line: SessionExchange.Line
    private let folder: URL

    /// Makes a transport with a session of its own.
    ///
    /// - Parameter connectionsPerHost: How many connections to one host there may be. Exchanges that find none wait, in
    ///   the order in which they came, and on Linux no silence counts meanwhile, so that streams without an end need
    ///   connections beyond those. On Apple's platforms, where a connection may carry many exchanges at once, the
    ///   session lets them wait, and doesn't say so.
    public convenience init(connectionsPerHost: Int = 6) {
        self.init(connectionsPerHost: connectionsPerHost, folder: FileManager.default.temporaryDirectory)
    }

    /// Makes a transport that puts aside what it must in a folder.
    init(connectionsPerHost: Int, folder: URL) {
        self.folder = folder
        session = TransportSession(queues, connectionsPerHost: connectionsPerHost)
        #if canImport(FoundationNetworking)
        line = SessionExchange.Line(width: connectionsPerHost)
        cautious = TransportSession(queues, connectionsPerHost: connectionsPerHost, keepsConnections: false)
        #else
        line = SessionExchange.Line(width: .max)
        #endif
    }

    /// How many bytes of bodies are in memory that nobody has read yet.
    var bytesInMemory: Int {
        #if canImport(FoundationNetworking)
        session.bytesInMemory + cautious.bytesInMemory
        #else
        session.bytesInMemory
        #endif
    }

    /// Makes one exchange. Returns when the header of the response is there.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        guard request.cachePolicy != .cacheOnly else { throw TransportFault(.notCached) }
        guard request.body == nil || request.method.allowsBody else {
            throw ServiceRequest.Fault.unexpectedBody(request.method)
        }
        let payload = try await RequestPayload(request.body, folder: folder) { request.didSend(0) }
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
            request, payload, queues: queues, line: line, task: { session.task(for: request, payload) }, folder: folder,
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

/// Ends the exchange when nobody holds its body any more.
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
