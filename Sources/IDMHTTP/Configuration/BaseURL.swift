internal import Foundation

struct BaseURL: Sendable, Equatable {
    let origin: ServiceOrigin
    /// The path without a slash at its end. Empty for the root.
    let path: String
    /// The query, without its `?`. Empty if there is none.
    let query: String

    init(_ url: URL) throws(ServiceRequest.Fault) {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            throw .baseURL(reason: Self.malformed)
        }
        let scheme = components.scheme ?? ""
        guard ["http", "https"].contains(scheme.asciiLowercased()) else {
            throw scheme.isEmpty
                ? .baseURL(reason: Self.malformed)
                : .baseURL(
                    reason: "has the scheme “\(scheme.escapedForDescription())”, which is neither http nor https")
        }
        guard components.percentEncodedUser == nil, components.percentEncodedPassword == nil else {
            throw .baseURL(reason: "holds a user or a password")
        }
        guard let origin = ServiceOrigin(components) else { throw .baseURL(reason: Self.malformed) }
        guard components.percentEncodedFragment == nil else { throw .baseURL(reason: "has a fragment") }
        guard !components.percentEncodedPath.split(separator: "/").contains(where: \.isDotSegment) else {
            throw .baseURL(reason: "has a segment “.” or “..” in its path")
        }
        self.origin = origin
        var path = components.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
        query = components.percentEncodedQuery ?? ""
    }

    private static let malformed = "has no host, or isn't a URL"

    static func reading(_ url: URL) -> Result<BaseURL, ServiceRequest.Fault> {
        Result { () throws(ServiceRequest.Fault) in try BaseURL(url) }
    }

    /// The URL of an escaped path below this one, with the query of the base before the request's.
    func joined(path: String, query: String) throws(ServiceRequest.Fault) -> URL {
        let separator = path.isEmpty || path.hasPrefix("/") ? "" : "/"
        var text = "\(origin)\(self.path)\(separator)\(path)"
        // The root is sent with a slash.
        if self.path.isEmpty, path.isEmpty { text += "/" }
        let queries = [self.query, query].filter { !$0.isEmpty }
        if !queries.isEmpty { text += "?\(queries.joined(separator: "&"))" }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw .baseURL(reason: Self.malformed)
        }
        return url
    }

    /// The URL of a link from the server, with a query behind its own. It must have the same origin.
    func following(_ link: URL, from base: URL, query: String) throws(ServiceRequest.Fault) -> URL {
        guard let address = URL(string: link.absoluteString, relativeTo: base)?.absoluteURL else {
            throw .link(reason: Self.malformed)
        }
        let target = try Self.ofLink(address)
        guard target.origin == origin else { throw .foreignLink("\(target.origin)") }
        return try Self.adding(query, to: address)
    }

    static func address(_ address: URL, query: String) throws(ServiceRequest.Fault) -> URL {
        _ = try ofLink(address)
        return try adding(query, to: address.absoluteURL)
    }

    private static func ofLink(_ address: URL) throws(ServiceRequest.Fault) -> BaseURL {
        do throws(ServiceRequest.Fault) {
            return try BaseURL(address)
        } catch {
            if case .baseURL(let reason) = error { throw .link(reason: reason) }
            throw error
        }
    }

    private static func adding(_ query: String, to address: URL) throws(ServiceRequest.Fault) -> URL {
        guard !query.isEmpty else { return address }
        let text = address.absoluteString
        guard let url = URL(string: text + (text.contains("?") ? "&" : "?") + query, encodingInvalidCharacters: false)
        else { throw .link(reason: Self.malformed) }
        return url
    }
}
