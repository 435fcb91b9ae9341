extension ServiceHeaders {
    /// The name of a header field. Names that differ in case only are equal; the spelling is kept.
    public struct Name: Sendable {
        /// The name as it was written.
        public let spelling: String
        private let folded: String

        /// Makes a name. Whether it is one is checked when a request is sent.
        public init(_ spelling: String) {
            self.spelling = spelling
            folded = spelling.asciiLowercased()
        }
    }
}

extension ServiceHeaders.Name: Hashable {
    public static func == (first: Self, second: Self) -> Bool {
        first.folded == second.folded
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(folded)
    }
}

extension ServiceHeaders.Name: ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name that is written.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    public var description: String { spelling }
}

extension ServiceHeaders.Name {
    /// `Accept`.
    public static let accept: Self = "Accept"
    /// `Accept-Language`.
    public static let acceptLanguage: Self = "Accept-Language"
    /// `Authorization`.
    public static let authorization: Self = "Authorization"
    /// `Cache-Control`.
    public static let cacheControl: Self = "Cache-Control"
    /// `Content-Disposition`.
    public static let contentDisposition: Self = "Content-Disposition"
    /// `Content-Length`. Made by the transport, and refused in a request.
    public static let contentLength: Self = "Content-Length"
    /// `Content-Type`.
    public static let contentType: Self = "Content-Type"
    /// `Cookie`.
    public static let cookie: Self = "Cookie"
    /// `Date`.
    public static let date: Self = "Date"
    /// `ETag`.
    public static let eTag: Self = "ETag"
    /// `Idempotency-Key`.
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// `If-None-Match`.
    public static let ifNoneMatch: Self = "If-None-Match"
    static let lastModified: Self = "Last-Modified"
    /// `Location`.
    public static let location: Self = "Location"
    /// `Proxy-Authorization`.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// `Retry-After`.
    public static let retryAfter: Self = "Retry-After"
    /// `Set-Cookie`.
    public static let setCookie: Self = "Set-Cookie"
    /// `User-Agent`.
    public static let userAgent: Self = "User-Agent"
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
}

extension String {
    /// The text with its ASCII letters in lower case, and everything else as it is: what is equal in a protocol must
    /// not depend on what Unicode takes for a letter.
    func asciiLowercased() -> String {
        var text = self
        return text.withUTF8 { bytes in
            guard bytes.contains(where: { (65...90).contains($0) }) else { return self }
            return String(unsafeUninitializedCapacity: bytes.count) { lowered in
                for index in bytes.indices {
                    let byte = bytes[index]
                    lowered[index] = (65...90).contains(byte) ? byte | 32 : byte
                }
                return bytes.count
            }
        }
    }
}
