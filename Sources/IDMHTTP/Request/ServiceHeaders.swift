/// The header fields of a request or of a response: in order, repeatable, and found without regard to case.
///
/// ```swift
/// var headers: ServiceHeaders = ["Accept": "application/json"]
/// headers[.acceptLanguage] = "en"
/// headers.add("Cache-Control", "no-cache")
/// ```
///
/// A request is checked when it is sent: one with an invalid field, such as a line break, is refused with a
/// ``ServiceRequest/Fault``.
public struct ServiceHeaders: Sendable, Hashable {
    /// One line of a header.
    public struct Field: Sendable, Hashable {
        /// The name of the field.
        public var name: Name
        /// The value of the field.
        public var value: String
        /// True if the value is a secret, whatever its name: it is never shown, and never sent to another origin.
        ///
        /// Values of common names, such as Authorization and Cookie, are always secret: see ``ServiceRedaction``.
        public var isSecret: Bool

        /// Makes a field. Neither part is checked before a request is sent.
        public init(_ name: Name, _ value: String, isSecret: Bool = false) {
            self.name = name
            self.value = value
            self.isSecret = isSecret
        }
    }

    private var fields: [Field]

    /// No fields.
    public init() {
        fields = []
    }

    /// The fields, in this order.
    public init(_ fields: some Sequence<Field>) {
        self.fields = Array(fields)
    }

    /// The values of a name, joined with a comma (RFC 9110). Nil without a field. For `Set-Cookie`, use
    /// ``values(of:)``.
    ///
    /// Setting a value replaces all fields of the name, at the place of the first one; nil removes them.
    public subscript(_ name: Name) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            let place = fields.firstIndex { $0.name == name }
            remove(name)
            if let newValue { fields.insert(Field(name, newValue), at: place ?? fields.endIndex) }
        }
    }

    /// Returns the values of all fields with a name, in their order.
    public func values(of name: Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Adds a field, beside those of the same name.
    public mutating func add(_ name: Name, _ value: String) {
        fields.append(Field(name, value))
    }

    /// Replaces all fields of a name with one whose value is a secret, whatever the name is.
    public mutating func setSecret(_ name: Name, _ value: String) {
        remove(name)
        fields.append(Field(name, value, isSecret: true))
    }

    /// Makes a secret of each field that another header doesn't hold.
    mutating func keepSecret(unlessIn known: Self) {
        for index in fields.indices where !known.fields.contains(fields[index]) { fields[index].isSecret = true }
    }

    /// Removes all fields of a name.
    public mutating func remove(_ name: Name) {
        fields.removeAll { $0.name == name }
    }

    /// Returns these fields, with all fields of a name replaced by those that `others` has for it.
    public func merging(_ others: ServiceHeaders) -> ServiceHeaders {
        let names = Set(others.map(\.name))
        return ServiceHeaders(fields.filter { !names.contains($0.name) } + others.fields)
    }
}

extension ServiceHeaders: RandomAccessCollection {
    /// The place of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The place behind the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a place.
    public subscript(position: Int) -> Field { fields[position] }
}

extension ServiceHeaders: ExpressibleByDictionaryLiteral {
    /// The fields as they are written. A name may stand there more than once.
    public init(dictionaryLiteral elements: (Name, String)...) {
        self.init(elements.map { Field($0.0, $0.1) })
    }
}

extension ServiceHeaders: CustomStringConvertible {
    public var description: String { description(redacted: .standard) }

    /// The fields, one a line.
    public func description(redacted redaction: ServiceRedaction) -> String {
        fields.map { $0.description(redacted: redaction) }.joined(separator: "\n")
    }
}

extension ServiceHeaders: CustomReflectable {
    /// The redacted description alone, so that `dump` shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension ServiceHeaders.Field: CustomStringConvertible, CustomReflectable {
    public var description: String { description(redacted: .standard) }

    func description(redacted redaction: ServiceRedaction) -> String {
        "\(name): \(redaction.value(of: self))"
    }

    /// The redacted description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

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
