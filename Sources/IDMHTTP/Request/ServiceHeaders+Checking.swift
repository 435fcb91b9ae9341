extension ServiceHeaders {
    /// Names that only the transport sets. A request with its own could hang, or be read as two requests.
    private static let reserved: Set<Name> = [
        "Connection", .contentLength, "Expect", "Host", "HTTP2-Settings", "Keep-Alive", "Proxy-Connection", "TE",
        "Trailer",
        "Transfer-Encoding", "Upgrade",
    ]

    /// Throws unless each field can be sent. The error contains no value.
    func check() throws(ServiceRequest.Fault) {
        for field in self {
            guard field.name.spelling.consists(of: .token) else {
                throw .headerName(field.name.spelling.escapedForDescription())
            }
            guard !Self.reserved.contains(field.name) else { throw .reservedHeader(field.name) }
            for (place, byte) in field.value.utf8.enumerated() where !Self.isAllowedInValue(byte) {
                throw .headerValue(field.name, byte: byte, at: place)
            }
        }
    }

    /// Printable ASCII and the tab. Servers differ in how they read other bytes.
    private static func isAllowedInValue(_ byte: UInt8) -> Bool {
        (32...126).contains(byte) || byte == 9
    }
}

extension ServiceHeaders {
    /// The announced length of the body. Nil for a packed body, whose unpacked length isn't announced.
    var announcedLength: Int64? {
        self["Content-Encoding"] == nil ? self[.contentLength].flatMap { Int64($0) }.map { Swift.max($0, 0) } : nil
    }
}
