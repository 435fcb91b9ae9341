import IDMHTTP

/// The head of a request, as it came.
struct RequestHead: Sendable, Hashable {
    /// The length of the body, if there is one.
    enum Framing: Sendable, Hashable {
        case length(Int)
        case chunks
    }

    var method: ServiceRequest.Method
    var target: String
    var headers: ServiceHeaders
    var bytes: [UInt8]
    var framing: Framing
    /// True if the client wants the connection closed after the answer.
    var closes: Bool
    /// True if the client waits for 100 Continue before it sends the body.
    var awaitsContinue: Bool
}

extension String {
    /// A target as it stands behind the host. Nearly all clients send nothing else; a whole address, as it is made for
    /// proxies, every server has to take as well (RFC 9112, 3.2.2).
    var originForm: Substring {
        guard let sign = firstRange(of: "://"), ["http", "https"].contains(self[..<sign.lowerBound].lowercased())
        else { return self[...] }
        let rest = self[sign.upperBound...].drop { $0 != "/" && $0 != "?" }
        return rest.first == "/" ? rest : "/\(rest)"
    }
}
