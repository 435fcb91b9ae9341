internal import Foundation

extension RedirectPolicy {
    /// Returns the request to which a response redirects. Nil if the response isn't a redirect, or redirects aren't
    /// followed.
    ///
    /// - Parameters:
    ///   - hops: The number of redirects that were followed before.
    ///   - secrets: The redaction of the service, whose secrets aren't sent to another origin, as those of the standard
    ///     aren't.
    ///   - isOfAuthenticator: True if an authenticator makes the request. Its body never leaves the origin.
    func request(
        after request: TransportRequest, status: Int, headers: ServiceHeaders, hops: Int,
        secrets: ServiceRedaction = .standard, isOfAuthenticator: Bool = false
    ) throws(Fault) -> TransportRequest? {
        guard kind != .hand, [301, 302, 303, 307, 308].contains(status) else { return nil }
        let locations = headers.values(of: .location)
        // Without an address to go to, it is for the rules to say what it is.
        guard !locations.isEmpty else { return nil }
        guard hops < request.limits.redirects else { throw .tooMany(limit: request.limits.redirects) }
        let target = try target(locations, from: request.url)
        var next = request
        next.url = target.url
        if status == 303 && request.method != .head || (status == 301 || status == 302) && request.method == .post {
            next.method = .get
            next.body = nil
            for field in request.headers where field.name.spelling.asciiLowercased().hasPrefix("content-") {
                next.headers.remove(field.name)
            }
        }
        if let body = next.body {
            let isHome = target.origin == ServiceOrigin(request.url) && !request.hasLeftOrigin
            guard isHome || sendsBodiesToOtherOrigins && !isOfAuthenticator else { throw .bodyToOtherOrigin }
            guard body.isReplayable else { throw .bodyIsUsedUp }
        }
        // Removed fields don't return, even if the request is redirected back to its first origin.
        if target.origin != ServiceOrigin(request.url) {
            next.hasLeftOrigin = true
            for field in request.headers where [.standard, secrets].contains(where: { $0.isBoundToOrigin(field) }) {
                next.headers.remove(field.name)
            }
        }
        return next
    }

    private func target(_ locations: [String], from url: URL) throws(Fault) -> (url: URL, origin: ServiceOrigin) {
        let location = (locations.first ?? "").trimmingCharacters(in: .whitespaces)
        // Some transports join fields of one name. No address holds a space.
        guard locations.count == 1, !location.contains(", "),
            let address = URL(string: location, relativeTo: url)?.absoluteURL,
            var parts = URLComponents(url: address, resolvingAgainstBaseURL: true)
        else { throw .noAddress }
        let scheme = parts.scheme?.asciiLowercased() ?? ""
        guard ["http", "https"].contains(scheme) else { throw .scheme(scheme.escapedForDescription()) }
        guard parts.percentEncodedUser == nil, parts.percentEncodedPassword == nil else { throw .userInfo }
        parts.percentEncodedFragment = nil
        guard let origin = ServiceOrigin(parts), let target = parts.url else { throw .noAddress }
        guard kind == .followAnywhere || scheme == "https" || ServiceOrigin(url)?.scheme != "https" else {
            throw .insecure
        }
        return (target, origin)
    }
}
