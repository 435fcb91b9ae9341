internal import Foundation

/// A whole response as the cache keeps it, with what is needed to decide whether it can be used again.
struct StoredResponse: Sendable {
    let status: Int
    let headers: ServiceHeaders
    let body: Data
    /// The times of the request and of the response, in seconds since 1970.
    let requestTime: Double
    let responseTime: Double
    /// The fields of the request that `Vary` names, as they were. Nil for a field that was absent.
    let selected: [String: String?]
    /// The credentials of the request: the response is for no other user, and stays in memory. Nil for a request
    /// without credentials.
    let credentials: [String]?
    /// True if the response may be written to a disk.
    let isForDisk: Bool

    let freshness: CacheRules.Freshness

    init(
        status: Int, headers: ServiceHeaders, body: Data, requestTime: Double, responseTime: Double,
        selected: [String: String?], credentials: [String]?, isForDisk: Bool
    ) {
        (self.status, self.headers, self.body) = (status, headers, body)
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
        (self.selected, self.credentials, self.isForDisk) = (selected, credentials, isForDisk)
        freshness = CacheRules.Freshness(
            status: status, headers: headers, requestTime: requestTime, responseTime: responseTime)
    }

    /// The number of bytes that count towards the limit.
    var cost: Int { body.count + headers.reduce(512) { $0 + $1.name.spelling.utf8.count + $1.value.utf8.count } }

    /// Returns true if the response can answer a request with these fields (RFC 9111, 4.1).
    func matches(_ headers: ServiceHeaders, credentials: [String]?) -> Bool {
        self.credentials == credentials
            && selected.allSatisfy { Self.normalized($0.key, in: headers) == $0.value }
    }

    /// The fields that a `Vary` names, as a request has them. Nil for `*`: nothing matches that.
    static func selection(by vary: [String], of request: ServiceHeaders) -> [String: String?]? {
        var selected: [String: String?] = [:]
        for name in vary.flatMap({ $0.split(separator: ",") }) {
            let name = name.filter { $0 != " " && $0 != "\t" }.asciiLowercased()
            if name == "*" { return nil }
            if !name.isEmpty { selected.updateValue(normalized(name, in: request), forKey: name) }
        }
        return selected
    }

    /// The value of a field without differences that mean nothing: white space, and the lines it stands on.
    private static func normalized(_ name: String, in headers: ServiceHeaders) -> String? {
        headers[ServiceHeaders.Name(name)].map { value in
            value.split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ") }.joined(separator: ",")
        }
    }
}

extension StoredResponse {
    /// Everything but the body, for the disk.
    struct Head: Codable {
        let status: Int
        let headers: [[String]]
        let requestTime: Double
        let responseTime: Double
        let selected: [String: String?]
        let length: Int
    }

    var head: Head {
        Head(
            status: status, headers: headers.map { [$0.name.spelling, $0.value] }, requestTime: requestTime,
            responseTime: responseTime, selected: selected, length: body.count)
    }

    init(_ head: Head, body: Data) {
        self.init(
            status: head.status,
            headers: ServiceHeaders(
                head.headers.filter { $0.count == 2 }.map { ServiceHeaders.Field(ServiceHeaders.Name($0[0]), $0[1]) }),
            body: body, requestTime: head.requestTime, responseTime: head.responseTime, selected: head.selected,
            credentials: nil, isForDisk: true)
    }
}
