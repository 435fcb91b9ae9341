extension ServiceHeaders {
    /// Names that say how a message travels. They are the transport's, and a request that brings its own could hang it,
    /// or be taken for two requests.
    private static let reserved: Set<Name> = [
        "Connection", .contentLength, "Expect", "Host", "HTTP2-Settings", "Keep-Alive", "Proxy-Connection", "TE",
        "Trailer",
        "Transfer-Encoding", "Upgrade",
    ]

    /// Throws unless each field can be sent as it stands. No value is ever a part of what is thrown.
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

    /// Printable ASCII, the space and the tab. Servers read other bytes in one of several ways, or not at all.
    private static func isAllowedInValue(_ byte: UInt8) -> Bool {
        (32...126).contains(byte) || byte == 9
    }
}

extension ServiceHeaders {
    /// The length of the body that the server has announced. Nil for a packed body, whose announced length is another
    /// one.
    var announcedLength: Int64? {
        self["Content-Encoding"] == nil ? self[.contentLength].flatMap { Int64($0) }.map { Swift.max($0, 0) } : nil
    }
}
