internal import Foundation
internal import IDMCore
internal import IDMFiles
internal import Synchronization

/// Executes one request at the end of the interceptor chain: checks it, sends it, follows redirects, reads the body and
/// applies the rules.
struct RequestExecutor: Sendable {
    let configuration: ServiceConfiguration
    let transport: any HTTPTransport
    let rules: [ResponseRule]
    /// True if the caller reads the body, unless the response is a failure.
    let opens: Bool

    @concurrent
    func response(to request: ServiceRequest, in call: RequestContext) async throws -> ServiceResponse {
        do {
            var resolved = try configuration.resolve(request)
            // The body of an opened stream is never in memory as a whole.
            if opens { resolved.limits.body = resolved.limits.openedBody }
            var response = try await self.response(to: resolved, call)
            if let stream = response.stream {
                response.stream = timed(stream, of: request, idle: resolved.timeout, call)
            } else if let reason = rules.failure(of: response) {
                throw HTTPError.Reason.Thrown(reason, response: response)
            }
            return response
        } catch {
            // A cancelled task gets nothing else, however its exchange ended.
            if Task.isCancelled { throw CancellationError() }
            // Only for an error, since redaction takes longer than everything else.
            throw HTTPError(of: error, request: request.description(redacted: configuration.redaction))
        }
    }

    private func response(to request: TransportRequest, _ call: RequestContext) async throws -> ServiceResponse {
        do {
            return try await call.timeout.run(request.timeout, control: .current) { limit in
                var request = request
                let (didSend, didQueue, recorder) = (request.didSend, request.didQueue, EventRecorder.current)
                // Sent bytes are progress only of a request with a body.
                let (progress, length) = (
                    request.body.flatMap { _ in IntegrationProgress.current }, request.body?.length
                )
                request.didSend = { sent in
                    limit.noteActivity()
                    progress?.report(completed: sent, total: length.map { Int64($0) })
                    didSend(sent)
                }
                request.didQueue = {
                    limit.suspend()
                    recorder?.record(.queued)
                    didQueue()
                }
                return try await follow(request, call) { limit.noteActivity() }
            }
        } catch is Timeout.Expired {
            throw HTTPError.Reason.Thrown(.timedOut(.idle(request.timeout)), response: call.received.withLock { $0 })
        }
    }

    private func timed(
        _ stream: HTTPBytes, of request: ServiceRequest, idle: Duration, _ call: RequestContext
    ) -> HTTPBytes {
        let error = { @Sendable [redaction = configuration.redaction] (error: any Error) in
            HTTPError(of: error, request: request.description(redacted: redaction))
        }
        let idleLimit = (idle, error(HTTPError.Reason.Thrown(.timedOut(.idle(idle)))))
        let totalLimit = call.bodyTimeout.map { total in
            (total - call.timeout.elapsed(), error(HTTPError.Reason.Thrown(.timedOut(.total(total)))))
        }
        return TimedBody(
            stream, idle: idleLimit, total: totalLimit, control: .current, clock: call.clock, error: error
        ).bytes
    }
}

extension RequestExecutor {
    /// Sends a request over any number of redirects, until a body has been read or may be.
    ///
    /// - Parameter activity: Called whenever something is sent or received.
    private func follow(
        _ first: TransportRequest, _ call: RequestContext, activity: @escaping @Sendable () -> Void
    ) async throws -> ServiceResponse {
        var request = first
        var hops = 0
        // Once for all hops: the length that is announced is that of the file as it was.
        let files = SentFiles(of: first.body)
        while true {
            EventRecorder.recordAttempt(bytes: request.body?.length)
            call.received.withLock { $0 = nil }
            let arrivals =
                opens
                ? nil
                : ResponseProgress(activity) { [self, request] status, headers in
                    call.received.withLock { $0 = head(status, headers, of: request) }
                }
            request.didReceive = if let arrivals { { @Sendable arrival in arrivals.report(arrival) } } else { nil }
            let (sent, generation) = withCookies(request, call.scope)
            let response = try await send(sent, call)
            if let generation {
                configuration.cookies?.take(
                    response.headers, from: request.url, generation: generation, isForeign: request.hasLeftOrigin)
            }
            activity()
            call.received.withLock { $0 = head(of: response, from: request) }
            if arrivals?.hasHead != true { EventRecorder.record(.response(status: response.status)) }
            let next: TransportRequest?
            do throws(RedirectPolicy.Fault) {
                next = try configuration.redirects.request(
                    after: request, status: response.status, headers: response.headers, hops: hops,
                    secrets: configuration.redaction, isOfAuthenticator: RefreshScope.isRunning)
            } catch {
                throw HTTPError.Reason.Thrown(.redirect(error), response: head(of: response, from: request))
            }
            guard let next else {
                let answer = try await answer(response, from: request, activity)
                // Whatever the server says, it says of something that isn't the file.
                if let fault = files.fault {
                    throw HTTPError.Reason.Thrown(.badRequest(.body(fault)), response: answer)
                }
                return answer
            }
            EventRecorder.record(.redirect(to: next.address(redacted: configuration.redaction)))
            request = next
            hops += 1
        }
    }

    private func send(_ request: TransportRequest, _ call: RequestContext) async throws -> TransportResponse {
        guard var exchange = cachedExchange else { return try await transport.send(request) }
        exchange.clock = call.clock
        return try await exchange.response(to: request)
    }

    private var cachedExchange: CachedExchange? {
        configuration.cache.map { [transport] cache in
            CachedExchange(cache: cache, secrets: configuration.redaction, isShared: !opens) {
                try await transport.send($0)
            }
        }
    }

    /// Answers a request from the memory of the cache, before its time limits start. Nil if there is no such answer, or
    /// if it is an error or a redirect: the request is then made within its time limits.
    func freshResponse(to request: ServiceRequest, _ scope: CredentialScope) async -> ServiceResponse? {
        guard let resolved = try? configuration.resolve(request), let exchange = cachedExchange,
            let stored = exchange.freshResponse(to: withCookies(resolved, scope).0),
            !(300..<400).contains(stored.status),
            let response = try? await answer(stored, from: resolved, {}), rules.failure(of: response) == nil
        else { return nil }
        EventRecorder.recordAttempt(bytes: nil)
        EventRecorder.record(.response(status: stored.status))
        return response
    }

    /// Returns the request with the cookies for its address, and their generation. Redirects don't keep these cookies.
    /// The generation is nil, and no cookie is added, if the cookies belong to another user than the call.
    private func withCookies(
        _ request: TransportRequest, _ scope: CredentialScope
    ) -> (TransportRequest, generation: Int?) {
        guard let cookies = configuration.cookies else { return (request, nil) }
        let (value, generation) = cookies.header(for: request.url)
        guard scope.include(generation, of: cookies) else { return (request, nil) }
        cookies.caches.add(configuration.cache)
        var sent = request
        if let value, request.headers[.cookie] == nil {
            sent.headers.add(.cookie, value)
            sent.cookieOwner = .init(store: ObjectIdentifier(cookies), generation: generation)
        }
        return (sent, generation)
    }

    private func answer(
        _ response: TransportResponse, from request: TransportRequest, _ activity: () -> Void
    ) async throws -> ServiceResponse {
        var head = head(of: response, from: request)
        if opens {
            head.stream = response.body
            if rules.failure(of: head) == nil { return head }
            head.stream = nil
        }
        return try await read(response, as: head, from: request, activity)
    }

    private func read(
        _ response: TransportResponse, as head: ServiceResponse, from request: TransportRequest, _ activity: () -> Void
    ) async throws -> ServiceResponse {
        let limit = configuration.limits.body
        let length = response.headers.announcedLength
        func check(_ count: Int64) throws {
            if count > limit { throw HTTPError.Reason.Thrown(.tooLarge(limit: limit), response: head) }
        }
        // A body that is announced too large isn't read. Some responses announce a body that they don't have.
        if request.method.getsBody(with: response.status) { try check(length ?? 0) }
        let progress = IntegrationProgress.isReported(for: response.status) ? IntegrationProgress.current : nil
        var body = Data()
        do {
            for try await piece in response.body {
                activity()
                try check(Int64(body.count) + Int64(piece.count))
                // Some transports hand over the whole at once.
                if body.isEmpty { body = piece } else { body.append(piece) }
                progress?.report(completed: Int64(body.count), total: length)
            }
        } catch let fault as TransportFault {
            // The error keeps the head of the response.
            throw HTTPError.Reason.Thrown(HTTPError.Reason(fault), response: head)
        }
        // Nothing is complete too, unless what was sent has been.
        if body.isEmpty, request.body == nil { progress?.report(completed: 0, total: 0) }
        EventRecorder.record(.received(bytes: body.count))
        var result = head
        result.body = body
        return result
    }

    private func head(of response: TransportResponse, from request: TransportRequest) -> ServiceResponse {
        head(response.status, response.headers, of: request)
    }

    private func head(_ status: Int, _ headers: ServiceHeaders, of request: TransportRequest) -> ServiceResponse {
        var head = ServiceResponse(status: status, headers: headers, url: request.url)
        head.hasLeftOrigin = request.hasLeftOrigin
        return head
    }
}

extension IntegrationProgress {
    /// Returns true if the progress of a response's body is reported. Progress can't be taken back, and a failure may
    /// be followed by another attempt.
    fileprivate static func isReported(for status: Int) -> Bool { (200..<300).contains(status) }
}

/// Reports the progress of a response that its transport receives as a whole.
private final class ResponseProgress: Sendable {
    private let activity: @Sendable () -> Void
    private let note: @Sendable (Int, ServiceHeaders) -> Void
    private let recorder = EventRecorder.current
    private let progress = IntegrationProgress.current
    private let hasReportedHead = Atomic(false)
    private let isReported = Atomic(false)
    private let length = Atomic<Int64>(-1)

    init(_ activity: @escaping @Sendable () -> Void, note: @escaping @Sendable (Int, ServiceHeaders) -> Void) {
        self.activity = activity
        self.note = note
    }

    /// True if the head has been reported and recorded.
    var hasHead: Bool { hasReportedHead.load(ordering: .acquiring) }

    func report(_ arrival: TransportRequest.Arrival) {
        activity()
        switch arrival {
        case .head(let status, let headers):
            note(status, headers)
            self.length.store(headers.announcedLength ?? -1, ordering: .relaxed)
            isReported.store(IntegrationProgress.isReported(for: status), ordering: .relaxed)
            recorder?.record(.response(status: status))
            hasReportedHead.store(true, ordering: .releasing)
        case .body(let count):
            guard isReported.load(ordering: .relaxed) else { return }
            let length = length.load(ordering: .relaxed)
            progress?.report(completed: Int64(count), total: length < 0 ? nil : length)
        }
    }
}
