extension HTTPService {
    /// Returns the server-sent events of a request, reconnecting when a connection ends.
    ///
    /// The request is sent again after the server's ``ServerSentEvent/retry``, with the ID of the last event as
    /// `Last-Event-ID`. Each attempt without an event doubles the delay, up to a minute.
    ///
    /// - The sequence ends when the server responds with the status 204, as the HTML standard defines it.
    /// - It throws an error that a new connection can't resolve: a status that isn't a success, a `Content-Type` that
    ///   isn't `text/event-stream`, a certificate that isn't trusted, and a `CancellationError` when the task is
    ///   cancelled.
    /// - It doesn't reconnect after the total time-out of the request.
    ///
    /// - Parameters:
    ///   - request: The request. `Accept` is added unless it has one.
    ///   - retry: The delay before a reconnection, unless the server sends one.
    ///   - limit: The maximum number of bytes of a line, and of an event's data.
    public func events(
        _ request: ServiceRequest, retry: Duration = .seconds(3), limit: Int = 1 << 20
    ) -> ServerSentEventStream {
        ServerSentEventStream(service: self, request: request, retry: retry, limit: limit) { [clock] wait in
            try await clock.sleep(for: wait)
        }
    }
}

/// Server-sent events that connect again: ``HTTPService/events(_:retry:limit:)``.
public struct ServerSentEventStream: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = ServerSentEvent
    /// An error that a new connection can't resolve.
    public typealias Failure = any Error

    fileprivate let service: HTTPService
    fileprivate let request: ServiceRequest
    fileprivate let retry: Duration
    fileprivate let limit: Int
    var pause: @Sendable (Duration) async throws -> Void

    public func makeAsyncIterator() -> Iterator {
        Iterator(stream: self, parser: ServerSentEventParser(limit: limit), wait: retry)
    }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: ServerSentEventStream
        fileprivate var parser: ServerSentEventParser
        fileprivate var wait: Duration
        private var lines: HTTPBytes.Elements<String>.Iterator?
        private var hasConnected = false
        private var isOver = false

        fileprivate init(stream: ServerSentEventStream, parser: ServerSentEventParser, wait: Duration) {
            self.stream = stream
            self.parser = parser
            self.wait = wait
        }

        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation: isolated (any Actor)?) async throws -> ServerSentEvent? {
            while !isOver {
                do {
                    guard try await connect() else { break }
                    while let line = try await lines?.next(isolation: isolation) {
                        guard let event = try parser.read(line) else { continue }
                        wait = event.retry ?? stream.retry
                        return event
                    }
                    lines = nil
                } catch let error as HTTPError where RetryInterceptor.isTransient(error) {
                    lines = nil
                } catch {
                    (lines, isOver) = (nil, true)
                    throw error
                }
            }
            isOver = true
            return nil
        }

        /// Opens a connection if there is none. False if the server wants no more of them.
        private mutating func connect() async throws -> Bool {
            guard lines == nil else { return true }
            if hasConnected {
                try await stream.pause(wait)
                wait = Swift.max(Swift.min(wait * 2, .seconds(60)), wait)
            }
            hasConnected = true
            parser.beginConnection()
            var request = stream.request
            if request.headers[.accept] == nil { request.headers[.accept] = "text/event-stream" }
            if !parser.lastEventID.isEmpty { request.headers["Last-Event-ID"] = parser.lastEventID }
            request.cachePolicy = .reload
            let answer = try await stream.service.open(request)
            if answer.status == 204 { return false }
            let type =
                answer.headers[.contentType]?.split(separator: ";").first.map { String($0).asciiLowercased() } ?? ""
            guard type.filter({ $0 != " " }) == "text/event-stream" else {
                throw HTTPError(
                    .decoding(HTTPError.DecodingFault(path: "", reason: "the body isn't text/event-stream")),
                    request: request.description(redacted: stream.service.configuration.redaction))
            }
            lines = answer.bytes.lines(limit: stream.limit).makeAsyncIterator()
            return true
        }
    }
}
