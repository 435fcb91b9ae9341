internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Carries requests over URLSession, in a way that is safe on Apple's platforms and on Linux.
///
/// One transport has one session, which lives as long as the transport does. Make one and share it, as services do with
/// ``shared``; what many short-lived sessions do isn't known to be safe.
///
/// - It follows no redirects, and answers no server that asks for a user: a 401 comes with its body.
/// - It keeps nothing: no cookies, no credentials, no responses. With ``ServiceRequest/CachePolicy/cacheOnly`` a
///   request fails at once; all others ask the server. A cache of values stands before a service, and not in it.
/// - Time is kept by the service, to the millisecond.
/// - A cancellation ends an exchange at once, wherever it is, and is told as a `CancellationError`.
/// - A header that is too large, and a body that is once it is unpacked, end the transfer, and are told as a
///   ``TransportFault``, as everything else is that goes wrong.
///
/// Four things on Linux are beyond its reach, for they happen in FoundationNetworking: a connection that breaks off
/// inside of a response's header ends the process; while a packed body of hundreds of megabytes is unpacked all other
/// transfers of the session wait, until the limit ends it; they wait as well while a file that is sent is read from a
/// disk that takes its time; and as long as bytes come faster than the session reads them, it does nothing else, so
/// that the connection of a stopped transfer closes at the server's first breath. Whoever cancelled, or was refused, has
/// been told by then.
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
/// What is sent goes from memory or from a file. Streams, and multipart bodies with files, are written to a temporary
/// file first, for their length to be known and for a slow one to hold nobody up. On Linux that file has no name either.
public final class URLSessionTransport: HTTPTransport {
    /// The one that services share.
    public static let shared = URLSessionTransport()

    /// A time that nobody lives to see, and that URLSession can count in milliseconds.
    static let longestTime: TimeInterval = 10 * 365 * 86_400

    private let session: URLSession
    private let queues = SessionQueues()
    private let line: SessionExchange.Line
    private let delegate: SessionDelegate
    private let folder: URL

    /// Makes a transport with a session of its own.
    ///
    /// - Parameter connectionsPerHost: How many connections to one host there may be. Exchanges that find none wait, in
    ///   the order in which they came, and on Linux no silence counts meanwhile. On Apple's platforms, where a connection
    ///   may carry many exchanges at once, the session lets them wait, and doesn't say so.
    public convenience init(connectionsPerHost: Int = 6) {
        self.init(connectionsPerHost: connectionsPerHost, folder: FileManager.default.temporaryDirectory)
    }

    /// Makes a transport that puts aside what it must in a folder.
    init(connectionsPerHost: Int, folder: URL) {
        self.folder = folder
        #if canImport(FoundationNetworking)
        line = SessionExchange.Line(width: connectionsPerHost)
        #else
        line = SessionExchange.Line(width: .max)
        #endif
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = Self.longestTime
        configuration.timeoutIntervalForResource = Self.longestTime
        configuration.httpMaximumConnectionsPerHost = max(connectionsPerHost, 1)
        delegate = SessionDelegate()
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queues.telling)
    }

    deinit {
        // Exchanges that are under way hold what they need.
        session.finishTasksAndInvalidate()
    }

    /// How many bytes of bodies are in memory that nobody has read yet.
    var bytesInMemory: Int { delegate.bytesInMemory }

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
        SessionExchange(
            request, payload, queues: queues, line: line, task: { self.task(for: request, payload) }, folder: folder,
            didBegin: { [delegate] in delegate.add($0, $1) })
    }

    private func task(for request: TransportRequest, _ payload: RequestPayload) -> URLSessionTask {
        let urlRequest = request.urlRequest
        // A body in the request itself would make Linux say that it is a form, where nothing else is said.
        return switch payload {
        case .none: session.dataTask(with: urlRequest)
        case .data(let data): session.uploadTask(with: urlRequest, from: data)
        #if canImport(FoundationNetworking)
        case .file(let url, let length): task(for: urlRequest, PayloadStream(url, length: length), length)
        case .temporary(let file, let length): task(for: urlRequest, PayloadStream(file.handle, length: length), length)
        #else
        case .file(let url, _): session.uploadTask(with: urlRequest, fromFile: url)
        case .temporary(let file, _): session.uploadTask(with: urlRequest, fromFile: file.url)
        #endif
        }
    }

    #if canImport(FoundationNetworking)
    private func task(for request: URLRequest, _ stream: PayloadStream, _ length: Int) -> URLSessionTask {
        var request = request
        request.httpBodyStream = stream
        request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        // A field without a value isn't sent, and keeps libcurl and URLSession from saying something of their own: that
        // the length isn't known, or that it is a form.
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        if request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue(" ", forHTTPHeaderField: "Content-Type")
        }
        return session.dataTask(with: request)
    }
    #endif
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
