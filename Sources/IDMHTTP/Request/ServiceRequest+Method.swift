extension ServiceRequest {
    /// The method of a request. A name that differs from a method of RFC 9110 only in case becomes that method; other
    /// names are sent as they are written.
    public struct Method: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name that is sent.
        public let name: String

        /// Makes a method. Whether the name is one is checked when a request is sent.
        public init(_ name: String) {
            self.name = Self.standard[name.asciiLowercased()] ?? name
        }

        private static let standard = Dictionary(
            uniqueKeysWithValues: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"].map {
                ($0.asciiLowercased(), $0)
            })

        /// The method that is written.
        public init(stringLiteral value: String) {
            self.init(value)
        }

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

        /// True if the method changes nothing on the server (RFC 9110).
        public var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }

        /// True if sending the request twice has the same effect as sending it once (RFC 9110).
        public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

        /// True if a request may carry a body. A body of GET or HEAD has no defined effect.
        var allowsBody: Bool { self != .get && self != .head && self != .trace }

        /// Returns true if a response has a body, whatever length it announces.
        func getsBody(with status: Int) -> Bool { self != .head && status != 204 && status != 304 }

        func check() throws(Fault) {
            // CONNECT asks a proxy for a tunnel; its target isn't a URL.
            guard name.consists(of: .token), name != "CONNECT" else {
                throw .method(name.escapedForDescription())
            }
        }

        func isReplaySafe(with headers: ServiceHeaders) -> Bool {
            isIdempotent || headers[.idempotencyKey]?.isEmpty == false
        }
    }

    /// True if the request can be sent again, also when it has arrived before.
    var isRetryable: Bool { method.isReplaySafe(with: headers) && body?.isReplayable != false }
}
