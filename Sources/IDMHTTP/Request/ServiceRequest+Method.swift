extension ServiceRequest {
    /// What a request asks a server to do. The name is sent as it is written, since methods differ in case, but for
    /// those of RFC 9110: what is spelt like one of them is that one, as URLSession has it.
    public struct Method: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name that is sent.
        public let name: String

        /// Makes a method. Whether the name is one is checked when a request is sent.
        public init(_ name: String) {
            self.name = Self.standard[name.asciiLowercased()] ?? name
        }

        /// By their names in small letters.
        private static let standard = Dictionary(
            uniqueKeysWithValues: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"].map {
                ($0.asciiLowercased(), $0)
            })

        /// The method that is written.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// The name that is sent.
        public var description: String { name }

        /// `GET`.
        public static let get: Self = "GET"
        /// `HEAD`.
        public static let head: Self = "HEAD"
        /// `POST`.
        public static let post: Self = "POST"
        /// `PUT`.
        public static let put: Self = "PUT"
        /// `PATCH`.
        public static let patch: Self = "PATCH"
        /// `DELETE`.
        public static let delete: Self = "DELETE"
        /// `OPTIONS`.
        public static let options: Self = "OPTIONS"
        private static let trace: Self = "TRACE"

        /// Whether a request changes nothing on the server (RFC 9110).
        public var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }

        /// Whether a request that is sent twice does what it does when it is sent once (RFC 9110).
        public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

        /// Whether a request may carry a body. What a server does with one of a GET or HEAD isn't defined, and
        /// URLSession doesn't send it.
        var allowsBody: Bool { self != .get && self != .head && self != .trace }

        /// Whether a response to it has a body, whatever length it announces.
        func getsBody(with status: Int) -> Bool { self != .head && status != 204 && status != 304 }

        func check() throws(Fault) {
            // CONNECT asks a proxy for a tunnel; its target isn't a URL.
            guard name.consists(of: .token), name != "CONNECT" else {
                throw .method(name.escapedForDescription())
            }
        }

        /// Whether it does no harm if a request with such a header arrives twice.
        func isReplaySafe(with headers: ServiceHeaders) -> Bool {
            isIdempotent || headers[.idempotencyKey]?.isEmpty == false
        }
    }

    /// Whether the request can be made again, and it does no harm if it has arrived before.
    var isRetryable: Bool { method.isReplaySafe(with: headers) && body?.isReplayable != false }
}
