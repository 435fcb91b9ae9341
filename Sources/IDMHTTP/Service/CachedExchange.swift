internal import Foundation
internal import IDMCore

/// One exchange by way of a cache: answered from it, validated, or made and kept.
struct CachedExchange: Sendable {
    typealias Send = @Sendable (TransportRequest) async throws -> TransportResponse

    let cache: HTTPCache
    let secrets: ServiceRedaction
    /// True if equal requests may wait for this one. False if its body is read at the caller's pace.
    let isShared: Bool
    /// The clock of the time-out of a validation behind its answer.
    var clock: any Clock<Duration> = ContinuousClock()
    let send: Send

    func response(to original: TransportRequest) async throws -> TransportResponse {
        var request = original
        // This is the cache. That of a transport, if it has one, is left out.
        request.cachePolicy = .reload
        let isGet = request.method == .get
        guard isAnswerable(request) else {
            guard original.cachePolicy != .cacheOnly else { throw TransportFault(.notCached) }
            return try await forward(request)
        }
        let cached = cacheRequest(request)
        let policy = original.cachePolicy
        guard policy != .reload else { return try await fetch(request, cached) }
        var found = await lookUp(request, cached, policy)
        if case .answer(let response) = found { return response }
        guard policy != .cacheOnly, !isOnlyIfCached(request) else { throw TransportFault(.notCached) }
        var running: FinalAction?
        if isGet {
            switch cache.beginFetch(of: cached) {
            case .began(let fetch):
                running = isShared ? fetch : nil
                // An equal request may have ended since.
                if cache.hasResponses(of: cached.address) {
                    found = await lookUp(request, cached, policy)
                }
            case .running(let other):
                request.didQueue()
                _ = await other.next(after: 1)
                try Task.checkCancellation()
                // The idle time-out counts again.
                request.didSend(0)
                // Asks by itself if the response can't be used: equal requests don't wait for each other in turn.
                found = await lookUp(request, cached, policy)
            }
        }
        switch found {
        case .answer(let response): return response
        case .stale(let stored) where isGet: return try await validate(stored, request, cached, running)
        case .stale, .missing: return try await fetch(request, cached, running)
        }
    }

    /// Returns the stored response that answers a request by itself, if it is in memory.
    func freshResponse(to request: TransportRequest) -> TransportResponse? {
        guard request.cachePolicy != .reload, isAnswerable(request),
            cache.hasResponses(of: CacheRequest.address(of: request.url)),
            let stored = cache.inMemory(for: cacheRequest(request))
        else { return nil }
        let isFresh =
            request.cachePolicy != .standard
            || CacheRules.use(of: stored, for: request.headers, at: cache.now()) == .serve
        return isFresh ? answer(stored, request) : nil
    }

    private func isAnswerable(_ request: TransportRequest) -> Bool {
        (request.method == .get || request.method == .head) && !request.skipsCache && !request.headers.isConditional
    }

    private func cacheRequest(_ request: TransportRequest) -> CacheRequest {
        CacheRequest(
            url: request.url, headers: request.headers, secretNames: request.secretNames,
            pathParameters: request.pathParameters, secrets: secrets)
    }

    private enum Finding {
        case answer(TransportResponse)
        case stale(StoredResponse)
        case missing
    }

    private func lookUp(
        _ request: TransportRequest, _ cached: CacheRequest, _ policy: ServiceRequest.CachePolicy
    ) async -> Finding {
        guard let stored = await cache.stored(for: cached) else { return .missing }
        if policy == .cacheOnly || policy == .cacheElseLoad { return .answer(answer(stored, request)) }
        switch CacheRules.use(of: stored, for: request.headers, at: cache.now()) {
        case .serve: return .answer(answer(stored, request))
        case .serveAndValidate where request.method == .get:
            validateLater(stored, request, cached)
            return .answer(answer(stored, request))
        case .serveAndValidate, .validate: return .stale(stored)
        }
    }

    private func isOnlyIfCached(_ request: TransportRequest) -> Bool {
        CacheDirectives(request.headers, isRequest: true).has("only-if-cached")
    }

    // MARK: Answers

    private func answer(
        _ stored: StoredResponse, _ request: TransportRequest, cookies: [String] = []
    ) -> TransportResponse {
        var headers = stored.headers
        headers[.age] = "\(Int(min(CacheRules.age(of: stored, at: cache.now()), Double(CacheDirectives.mostSeconds))))"
        for cookie in cookies { headers.add(.setCookie, cookie) }
        let body = request.method == .head ? Data() : stored.body
        return TransportResponse(status: stored.status, headers: headers, body: HTTPBytes(body))
    }

    private func validate(
        _ stored: StoredResponse, _ request: TransportRequest, _ cached: CacheRequest, _ running: FinalAction? = nil
    ) async throws -> TransportResponse {
        let validators = CacheRules.validators(of: stored)
        guard !validators.isEmpty else { return try await fetch(request, cached, running, insteadOfError: stored) }
        var conditional = request
        conditional.headers = request.headers.merging(validators)
        let (change, start) = (cache.lastChange, cache.now())
        let response: TransportResponse
        do {
            response = try await send(conditional)
        } catch {
            guard error.isOfTheConnection, CacheRules.isUsableOnError(stored, for: request.headers, at: cache.now())
            else { throw error }
            return answer(stored, request)
        }
        guard response.status == 304 else {
            if let stale = staleAnswer(response, stored, request) { return stale }
            return keeping(response, to: request, cached, running, change, start)
        }
        guard CacheRules.isAbout(stored, response.headers) else {
            // It is about another response than the one that is here.
            return try await fetch(request, cached, running)
        }
        let updated = CacheRules.updated(stored, by: response.headers, requestTime: start, responseTime: cache.now())
        cache.keep(updated, for: cached, since: change)
        return answer(updated, request, cookies: response.headers.values(of: .setCookie))
    }

    /// Validates a response that has answered a request already, within the idle time-out. The result is for the next
    /// request.
    private func validateLater(_ stored: StoredResponse, _ request: TransportRequest, _ cached: CacheRequest) {
        guard cache.beginValidation(cached.address) else { return }
        Task(executorPreference: LibraryTask.executor) {
            defer { cache.endValidation(cached.address) }
            try? await Timeout(clock).run(request.timeout) { limit in
                var request = request
                (request.didSend, request.didQueue) = ({ _ in limit.noteActivity() }, { limit.suspend() })
                request.didReceive = nil
                for try await _ in try await validate(stored, request, cached).body { limit.noteActivity() }
            }
        }
    }

    private func staleAnswer(
        _ response: TransportResponse, _ stored: StoredResponse, _ request: TransportRequest
    ) -> TransportResponse? {
        guard [500, 502, 503, 504].contains(response.status),
            CacheRules.isUsableOnError(stored, for: request.headers, at: cache.now())
        else { return nil }
        return answer(stored, request)
    }

    private func fetch(
        _ request: TransportRequest, _ cached: CacheRequest, _ running: FinalAction? = nil,
        insteadOfError stored: StoredResponse? = nil
    ) async throws -> TransportResponse {
        let (change, start) = (cache.lastChange, cache.now())
        do {
            let response = try await send(request)
            if let stored, let stale = staleAnswer(response, stored, request) { return stale }
            return keeping(response, to: request, cached, running, change, start)
        } catch {
            guard let stored, error.isOfTheConnection,
                CacheRules.isUsableOnError(stored, for: request.headers, at: cache.now())
            else { throw error }
            return answer(stored, request)
        }
    }

    private func forward(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await send(request)
        let changed = CacheRules.invalidated(
            by: request.method, of: request.url, status: response.status, headers: response.headers)
        cache.invalidate(changed.map(CacheRequest.address))
        return response
    }

    // MARK: Keeping

    /// A response that is kept once its reader has come to the end of its body.
    private func keeping(
        _ response: TransportResponse, to request: TransportRequest, _ cached: CacheRequest, _ running: FinalAction?,
        _ change: Int, _ start: Double
    ) -> TransportResponse {
        guard request.method == .get else {
            update(by: response, cached, change, start)
            return response
        }
        let headers = response.headers
        let isPrivate = cached.credentials != nil
        guard
            CacheRules.isStorable(
                status: response.status, headers: headers, to: request.headers, isPrivate: isPrivate),
            let selected = StoredResponse.selection(by: headers.values(of: "Vary"), of: request.headers),
            cache.canKeep(Int(clamping: headers.announcedLength ?? 0))
        else {
            cache.noteUnstorable(cached.address)
            return response
        }
        let pieces = Locked<[Data]?>([])
        let received = cache.now()
        let length = headers.announcedLength
        var response = response
        response.body = response.body.observed { [cache, status = response.status] result in
            switch result {
            case .success(let piece?):
                let isTooLong = pieces.withLock { kept in
                    kept?.append(piece)
                    if !cache.canKeep(kept?.reduce(0) { $0 + $1.count } ?? 0) { kept = nil }
                    return kept == nil
                }
                if isTooLong { running?.run() }
            case .failure:
                pieces.withLock { $0 = nil }
                running?.run()
            case .success(nil):
                defer { running?.run() }
                let all = pieces.withLock { kept in
                    defer { kept = nil }
                    return kept
                }
                guard let all else { return }
                let body = all.count == 1 ? all[0] : all.reduce(into: Data()) { $0 += $1 }
                guard length.map({ $0 == Int64(body.count) }) ?? true else { return }
                let isForDisk = !isPrivate && !cached.isSecret && headers[.setCookie] == nil
                cache.keep(
                    StoredResponse(
                        status: status, headers: CacheRules.kept(headers), body: body, requestTime: start,
                        responseTime: received, selected: selected, credentials: cached.credentials,
                        isForDisk: isForDisk),
                    for: cached, since: change)
            }
        }
        return response
    }

    /// Brings a stored response up to what the head of its resource says, or removes it.
    private func update(by head: TransportResponse, _ cached: CacheRequest, _ change: Int, _ start: Double) {
        guard head.status == 200, let stored = cache.inMemory(for: cached) else { return }
        guard !CacheRules.isOutdated(stored, by: head.headers) else { return cache.invalidate([cached.address]) }
        cache.keep(
            CacheRules.updated(stored, by: head.headers, requestTime: start, responseTime: cache.now()), for: cached,
            since: change)
    }
}

extension ServiceHeaders {
    /// True if the request has conditions or a range of its own, which the server has to answer.
    fileprivate var isConditional: Bool {
        contains { Self.conditions.contains($0.name) }
    }

    private static let conditions: Set<Name> = [
        .ifNoneMatch, "If-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
    ]
}

extension Error {
    /// True if the error is the loss or the lack of a connection.
    fileprivate var isOfTheConnection: Bool {
        switch (self as? TransportFault)?.kind {
        case .unreachable, .lost: true
        default: false
        }
    }
}
