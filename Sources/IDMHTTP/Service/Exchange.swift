internal import Foundation
internal import IDMCore

/// What stands at the end of a chain: checks a request, lets the transport make it, follows redirects, reads the body and
/// judges the response.
struct Exchange: Sendable {
    let configuration: ServiceConfiguration
    let transport: any HTTPTransport
    let rules: [ResponseRule]
    let clock: any Clock<Duration>

    @concurrent
    func response(to request: ServiceRequest) async throws -> ServiceResponse {
        do {
            let response = try await response(to: try configuration.resolve(request))
            if let reason = rules.failure(of: response) { throw HTTPError.Reason.Thrown(reason, response: response) }
            return response
        } catch {
            // A cancelled task is told nothing but that, whatever became of its exchange.
            if Task.isCancelled { throw CancellationError() }
            // Only here, since to redact it takes longer than everything else.
            throw HTTPError(of: error, request: request.description(redacted: configuration.redaction))
        }
    }

    private func response(to request: TransportRequest) async throws -> ServiceResponse {
        do {
            return try await SilenceWatch(duration: request.timeout, clock: clock).run { sound in
                var request = request
                request.didSend = sound
                return try await Visit(transport: transport, configuration: configuration, sound: sound)
                    .response(to: request)
            }
        } catch is SilenceWatch.Silence {
            throw HTTPError.Reason.Thrown(.timedOut(.silence(request.timeout)), response: nil)
        }
    }
}

/// One request on its way over any number of redirects, until a body has been read.
private struct Visit: Sendable {
    let transport: any HTTPTransport
    let configuration: ServiceConfiguration
    let sound: @Sendable () -> Void

    func response(to first: TransportRequest) async throws -> ServiceResponse {
        var request = first
        var hops = 0
        while true {
            EventRecorder.recordAttempt(bytes: request.body?.length)
            let response = try await transport.send(request)
            sound()
            EventRecorder.record(.response(status: response.status))
            let next: TransportRequest?
            do throws(RedirectPolicy.Fault) {
                next = try configuration.redirects.request(
                    after: request, status: response.status, headers: response.headers, hops: hops,
                    secrets: configuration.redaction)
            } catch {
                throw HTTPError.Reason.Thrown(.redirect(error), response: head(of: response, from: request))
            }
            guard let next else { return try await body(of: response, from: request) }
            EventRecorder.record(.redirect(to: configuration.redaction.url(next.url.absoluteString)))
            request = next
            hops += 1
        }
    }

    private func body(of response: TransportResponse, from request: TransportRequest) async throws -> ServiceResponse {
        var result = head(of: response, from: request)
        let limit = request.limits.body
        let isPacked = response.headers["Content-Encoding"] != nil
        let length = isPacked ? nil : response.headers[.contentLength].flatMap { Int64($0) }.map { max($0, 0) }
        func check(_ count: Int64) throws {
            if count > limit { throw HTTPError.Reason.Thrown(.tooLarge(limit: limit), response: result) }
        }
        // What is announced too large isn't begun. Some responses announce what they don't bring.
        if request.method != .head, response.status != 304 { try check(length ?? 0) }
        let progress = IntegrationProgress.current
        var body = Data()
        for try await piece in response.body {
            sound()
            try check(Int64(body.count) + Int64(piece.count))
            body.append(piece)
            progress?.report(completed: Int64(body.count), total: length)
        }
        EventRecorder.record(.received(bytes: body.count))
        result.body = body
        return result
    }

    private func head(of response: TransportResponse, from request: TransportRequest) -> ServiceResponse {
        ServiceResponse(status: response.status, headers: response.headers, url: request.url)
    }
}

extension HTTPError.Reason {
    /// A reason on its way to the one who knows the request.
    fileprivate struct Thrown: Error {
        let reason: HTTPError.Reason
        let response: ServiceResponse?

        init(_ reason: HTTPError.Reason, response: ServiceResponse?) {
            self.reason = reason
            self.response = response
        }
    }
}

extension HTTPError {
    /// What became of an exchange, whatever the transport threw.
    fileprivate init(of error: any Error, request: String) {
        switch error {
        case let error as HTTPError:
            self = error
        case let error as Reason.Thrown:
            self.init(error.reason, request: request, response: error.response)
        case let error as ServiceRequest.Fault:
            self.init(.badRequest(error), request: request)
        case let error as RequestBody.Fault:
            self.init(.badRequest(.body(error)), request: request)
        case is CancellationError, IntegrationError.cancelled, URLError.cancelled:
            self.init(.cancelled, request: request)
        case URLError.timedOut:
            self.init(.timedOut(.transport), request: request)
        default:
            self.init(.transport(error), request: request)
        }
    }
}
