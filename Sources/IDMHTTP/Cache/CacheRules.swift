internal import Foundation

/// The decisions of a private cache (RFC 9111). Pure: no clock, no storage, no network.
enum CacheRules {
    enum Use: Sendable, Equatable {
        /// It answers the request.
        case serve
        /// It answers the request, and is validated behind its back (`stale-while-revalidate`, RFC 5861).
        case serveAndValidate
        /// The server is asked whether it still holds.
        case validate
    }

    // MARK: Freshness

    /// The freshness of a response, computed once when it is stored.
    struct Freshness: Sendable {
        let directives: CacheDirectives
        /// The number of seconds for which the response stays fresh (RFC 9111, 4.2.1). `s-maxage` is for shared caches.
        let lifetime: Double
        /// The age of the response when it arrived, including the time on its way (RFC 9111, 4.2.3).
        let initialAge: Double

        init(status: Int, headers: ServiceHeaders, requestTime: Double, responseTime: Double) {
            directives = CacheDirectives(headers)
            let date = headers[.date].flatMap { HTTPDate($0) }.map { Double($0.seconds) } ?? responseTime
            lifetime = Self.lifetime(status, headers, directives, date: date)
            let first = headers[.age].map { $0.prefix { $0 != "," }.filter { $0 != " " } }
            let announced = first.flatMap { $0.consists(of: .digits) ? Double($0) : nil } ?? 0
            initialAge = max(0, responseTime - date, announced + max(0, responseTime - requestTime))
        }

        private static func lifetime(
            _ status: Int, _ headers: ServiceHeaders, _ directives: CacheDirectives, date: Double
        ) -> Double {
            if let seconds = directives.seconds("max-age") { return Double(seconds) }
            let expires = Set(headers.values(of: .expires))
            if !expires.isEmpty {
                // A value that isn't a date, such as 0, means expired.
                guard expires.count == 1, let end = expires.first.flatMap({ HTTPDate($0) }) else { return 0 }
                return max(0, Double(end.seconds) - date)
            }
            guard CacheRules.heuristicStatuses.contains(status) || directives.has("public"),
                let modified = headers[.lastModified].flatMap({ HTTPDate($0) })
            else { return 0 }
            // A tenth of the time since it changed, and a day at most.
            return min(max(0, (date - Double(modified.seconds)) / 10), 86_400)
        }
    }

    static func age(of stored: StoredResponse, at now: Double) -> Double {
        stored.freshness.initialAge + max(0, now - stored.responseTime)
    }

    // MARK: Use

    /// Returns how a stored response can be used for a request with these fields.
    static func use(of stored: StoredResponse, for request: ServiceHeaders, at now: Double) -> Use {
        let asked = CacheDirectives(request, isRequest: true)
        let told = stored.freshness.directives
        guard !asked.has("no-cache"), !told.has("no-cache") else { return .validate }
        let (age, lifetime) = (age(of: stored, at: now), stored.freshness.lifetime)
        if let most = asked.seconds("max-age"), age > Double(most) { return .validate }
        if let least = asked.seconds("min-fresh"), lifetime - age < Double(least) { return .validate }
        if age < lifetime { return .serve }
        guard !told.has("must-revalidate") else { return .validate }
        let staleness = age - lifetime
        if asked.isUnlimited("max-stale") || asked.seconds("max-stale").map({ staleness <= Double($0) }) == true {
            return .serve
        }
        return told.seconds("stale-while-revalidate").map { staleness < Double($0) } == true
            ? .serveAndValidate : .validate
    }

    /// Returns true if a stored response may replace a server error (`stale-if-error`, RFC 5861).
    static func isUsableOnError(_ stored: StoredResponse, for request: ServiceHeaders, at now: Double) -> Bool {
        let told = stored.freshness.directives
        guard !told.has("must-revalidate"), !told.has("no-cache") else { return false }
        let limits = [told, CacheDirectives(request, isRequest: true)].compactMap { $0.seconds("stale-if-error") }
        return limits.contains { age(of: stored, at: now) - stored.freshness.lifetime <= Double($0) }
    }

    /// The fields that ask whether a response still holds. Empty if it has nothing to be known by.
    static func validators(of stored: StoredResponse) -> ServiceHeaders {
        var headers: ServiceHeaders = [:]
        headers[.ifNoneMatch] = stored.headers[.eTag]
        headers["If-Modified-Since"] = stored.headers[.lastModified]
        return headers
    }

    // MARK: Storing

    /// Returns true if a response may be stored (RFC 9111, 3).
    ///
    /// - Parameter isPrivate: True if the request had credentials. Its response is stored only if the server allows it.
    static func isStorable(
        status: Int, headers: ServiceHeaders, to request: ServiceHeaders, isPrivate: Bool
    ) -> Bool {
        let told = CacheDirectives(headers)
        let isUnderstood = understoodStatuses.contains(status)
        guard status >= 200, status != 206, status != 304, request["Range"] == nil,
            !CacheDirectives(request, isRequest: true).has("no-store"),
            // Who understands the status may ignore the no-store beside must-understand.
            told.has("must-understand") ? isUnderstood : !told.has("no-store")
        else { return false }
        let hasFreshness = told.has("max-age") || !headers.values(of: .expires).isEmpty
        let isAllowed =
            hasFreshness || ["public", "private", "must-revalidate", "s-maxage"].contains(where: told.has)
        if isPrivate { return isAllowed && (isUnderstood || hasFreshness) }
        guard !isAllowed else { return isUnderstood || hasFreshness }
        // A failure is worth keeping only if the server says so, or can be asked whether it still holds.
        return status == 200 || heuristicStatuses.contains(status) && headers[.lastModified] != nil
    }

    /// The statuses that may be kept without the server saying for how long (RFC 9110, 15.1), but for parts.
    private static let heuristicStatuses: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    private static let understoodStatuses = heuristicStatuses.union([302, 303, 307, 400, 403, 500, 502, 503, 504])

    /// The fields of a response that are kept: without those of its connection, and without cookies, which would come
    /// back after they were changed.
    static func kept(_ headers: ServiceHeaders) -> ServiceHeaders {
        let named = headers.values(of: "Connection").flatMap { $0.split(separator: ",") }
            .map { ServiceHeaders.Name($0.filter { $0 != " " && $0 != "\t" }) }
        let left = connectionFields.union(named).union([.setCookie])
        return ServiceHeaders(headers.filter { !left.contains($0.name) })
    }

    private static let connectionFields: Set<ServiceHeaders.Name> = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
    ]

    // MARK: Updates

    /// Returns true if a 304, or the head of the same resource, describes a stored response.
    static func isAbout(_ stored: StoredResponse, _ headers: ServiceHeaders) -> Bool {
        guard let tag = headers[.eTag], let known = stored.headers[.eTag] else { return true }
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(tag) == opaque(known)
    }

    /// A stored response with the fields of a 304 in place of its own (RFC 9111, 3.2).
    static func updated(
        _ stored: StoredResponse, by headers: ServiceHeaders, requestTime: Double, responseTime: Double
    ) -> StoredResponse {
        // They are of the body, which stays.
        let ofBody: Set<ServiceHeaders.Name> = [.contentLength, "Content-Encoding", "Content-Range"]
        var merged = stored.headers
        // The stored age belongs to the response before.
        merged.remove(.age)
        merged = merged.merging(ServiceHeaders(kept(headers).filter { !ofBody.contains($0.name) }))
        return StoredResponse(
            status: stored.status, headers: merged, body: stored.body, requestTime: requestTime,
            responseTime: responseTime, selected: stored.selected, credentials: stored.credentials,
            isForDisk: stored.isForDisk)
    }

    /// Returns true if the head of a resource shows that the resource has changed since the response was stored (RFC
    /// 9110, 9.3.2).
    static func isOutdated(_ stored: StoredResponse, by head: ServiceHeaders) -> Bool {
        let names: [ServiceHeaders.Name] = [.lastModified, .contentLength, "Content-MD5"]
        return !isAbout(stored, head)
            || names.contains { name in
                guard let new = head[name], let known = stored.headers[name] else { return false }
                return new != known
            }
    }

    /// The addresses of which nothing stored holds any more after a request that may have changed something (RFC 9111,
    /// 4.4): its own, and those of the same origin that the response names. None if the request failed.
    static func invalidated(
        by method: ServiceRequest.Method, of url: URL, status: Int, headers: ServiceHeaders
    ) -> [URL] {
        guard !method.isSafe, (200..<400).contains(status) else { return [] }
        let named = [.location, "Content-Location"].flatMap { headers.values(of: $0) }
            .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }
            .filter { ServiceOrigin($0) == ServiceOrigin(url) }
        return [url] + named
    }
}

extension ServiceHeaders.Name {
    static let age: Self = "Age"
    static let expires: Self = "Expires"
}
