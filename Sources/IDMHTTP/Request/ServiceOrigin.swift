internal import Foundation

/// The origin of a URL: scheme, host and port. Credentials of one origin are sent to no other.
struct ServiceOrigin: Sendable, Hashable, CustomStringConvertible {
    let scheme: String
    /// The host in lower case. An IPv6 address stands in brackets.
    let host: String
    /// The port, also where the URL leaves it out.
    let port: Int

    /// The origin of a URL. Nil unless it is an http or https URL with a host.
    init?(_ url: URL) {
        self.init(URLComponents(url: url, resolvingAgainstBaseURL: true))
    }

    init?(_ components: URLComponents?) {
        guard let components, let scheme = components.scheme?.asciiLowercased(), ["http", "https"].contains(scheme),
            let host = components.percentEncodedHost?.asciiLowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = components.port ?? (scheme == "https" ? 443 : 80)
    }

    /// The origin as a URL has it, without the port that its scheme stands for.
    var description: String {
        "\(scheme)://\(host)\(port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)")"
    }
}
