internal import Dispatch
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A URLSession with its delegate. It is invalidated when it is released and no exchange is running.
final class TransportSession: Sendable {
    /// A time-out that never ends, and that URLSession can count in milliseconds.
    static let longestTime: TimeInterval = 10 * 365 * 86_400

    private let session: URLSession
    private let delegate = SessionDelegate()
    private let keepsConnections: Bool

    /// - Parameters:
    ///   - configuration: The settings of the session. A copy is used.
    ///   - keepsConnections: Whether a connection that has carried an exchange carries others.
    init(_ queues: SessionQueues, _ configuration: URLSessionConfiguration, keepsConnections: Bool = true) {
        self.keepsConnections = keepsConnections
        session = URLSession(
            configuration: Self.restricted(configuration), delegate: delegate, delegateQueue: queues.delegate)
    }

    /// Returns a copy that stores nothing, sends nothing of its own, and leaves the time to the service.
    static func restricted(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        var copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        #if !canImport(FoundationNetworking)
        // A background session takes no data tasks: making one ends the process.
        if copy.identifier != nil { copy = .ephemeral }
        #endif
        let configuration = copy
        configuration.httpAdditionalHeaders = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = Self.longestTime
        configuration.timeoutIntervalForResource = Self.longestTime
        configuration.httpMaximumConnectionsPerHost = max(configuration.httpMaximumConnectionsPerHost, 1)
        return configuration
    }

    deinit {
        // Exchanges that are under way hold what they need.
        session.finishTasksAndInvalidate()
    }

    /// Forwards the delegate calls of a task to an exchange.
    func add(_ exchange: SessionExchange, _ task: URLSessionTask) { delegate.add(exchange, task) }

    /// Makes the task of an exchange.
    func task(for request: TransportRequest, _ payload: RequestPayload) -> URLSessionTask {
        var urlRequest = request.urlRequest
        if !keepsConnections { urlRequest.setValue("close", forHTTPHeaderField: "Connection") }
        // A body in the request itself would make Linux say that it is a form, where nothing else is said.
        return switch payload {
        case .none: session.dataTask(with: urlRequest)
        case .data(let data): session.uploadTask(with: urlRequest, from: data)
        case .file(let url, _): session.uploadTask(with: urlRequest, fromFile: url)
        case .temporary(let file, _): session.uploadTask(with: urlRequest, fromFile: file.url)
        }
    }
}

/// The serial queues of a session.
struct SessionQueues: Sendable {
    /// The delegate queue of the session. Received bytes wait here.
    let delegate = OperationQueue()
    /// The queue under ``delegate``: reads and writes of files run here. It has a thread of its own, which may wait for
    /// a disk. A shared thread mustn't wait, and received bytes would accumulate while all shared threads are busy.
    let files = DispatchQueue(label: "IDMHTTP.URLSessionTransport.delegate")
    /// The queue on which tasks are made and resumed. Both wait for the session: on a shared thread they would block
    /// others.
    let start = DispatchQueue(label: "IDMHTTP.URLSessionTransport.start")
    /// The queue on which tasks are cancelled. A cancel waits for the session, so it can't run on the caller's thread;
    /// nor on the delegate queue, where it would wait behind received bytes.
    let cancel = DispatchQueue(label: "IDMHTTP.URLSessionTransport.cancel")
    /// The queue on which a waiting reader receives the bytes that have arrived. No work on it blocks. It has a thread of
    /// its own, since an app may keep all shared threads busy.
    let flush = DispatchQueue(label: "IDMHTTP.URLSessionTransport.flush")

    init() {
        delegate.maxConcurrentOperationCount = 1
        delegate.underlyingQueue = files
    }
}
