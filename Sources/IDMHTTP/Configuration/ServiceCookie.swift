/// A cookie that a server has set (RFC 6265).
struct ServiceCookie: Sendable {
    let name: String
    let value: String
    /// Below which path it is sent.
    let path: String
    /// The expiry, in seconds since 1970. Nil for a cookie that stays as long as its store.
    private let end: Int?

    private static let longest = 4_096

    /// Reads what a response sets. Nil if it is no cookie, or none that its server may set.
    init?(_ field: String, from origin: ServiceOrigin, path requestPath: String, now: Int) {
        // Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
        var parts = field.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)[...]
        let pair = parts.removeFirst()
        guard let sign = pair.firstIndex(of: "=") else { return nil }
        name = Substring(pair[..<sign]).trimmingBlanks
        value = Substring(pair[sign...].dropFirst()).trimmingBlanks
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isAllowedInName), value.utf8.allSatisfy(Self.isAllowedInValue),
            name.utf8.count + value.utf8.count <= Self.longest
        else { return nil }
        var attributes: [String: String] = [:]
        for part in parts {
            let name = part.prefix { $0 != "=" }
            attributes[Substring(name).trimmingBlanks.asciiLowercased()] =
                Substring(part[name.endIndex...].dropFirst()).trimmingBlanks
        }
        let domain = attributes["domain"].map { String($0.asciiLowercased().drop { $0 == "." }) } ?? ""
        guard domain.isEmpty || origin.host == domain || origin.host.hasSuffix("." + domain) else { return nil }
        let isSecure = attributes["secure"] != nil
        guard !isSecure || origin.scheme == "https" else { return nil }
        if let given = attributes["path"], given.hasPrefix("/") {
            path = given
        } else {
            // The folder of the requested path.
            let folder = requestPath.prefix(upTo: requestPath.lastIndex(of: "/") ?? requestPath.startIndex)
            path = folder.isEmpty ? "/" : String(folder)
        }
        let prefix = name.asciiLowercased()
        if prefix.hasPrefix("__secure-"), !isSecure { return nil }
        if prefix.hasPrefix("__host-"), !isSecure || path != "/" || !domain.isEmpty { return nil }
        if let age = attributes["max-age"], age.isDecimalInteger {
            // A number that no Int holds counts as its sign says.
            let seconds = Int(age) ?? (age.hasPrefix("-") ? .min : .max)
            end = seconds <= 0 ? .min : now.addingReportingOverflow(seconds).overflow ? nil : now + seconds
        } else {
            end = attributes["expires"].flatMap(HTTPDate.ofCookie)?.seconds
        }
    }

    /// Everything that doesn't end a name: servers set `cart[1]` and `AMCV_1@Org`, and browsers keep them.
    private static func isAllowedInName(_ byte: UInt8) -> Bool {
        byte > 32 && byte != 127 && byte != UInt8(ascii: ",") && byte != UInt8(ascii: ";")
    }

    /// No controls but the tab.
    private static func isAllowedInValue(_ byte: UInt8) -> Bool {
        byte >= 32 && byte != 127 || byte == 9
    }

    func isOver(at now: Int) -> Bool { end.map { $0 <= now } ?? false }

    func isFor(_ requested: String) -> Bool {
        requested == path || requested.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}

extension String {
    /// True for a value that `Max-Age` can have (RFC 6265, 5.2.2): digits, optionally with a minus in front.
    fileprivate var isDecimalInteger: Bool {
        (hasPrefix("-") ? dropFirst() : self[...]).consists(of: .digits)
    }
}

extension Substring {
    /// The text without spaces and tabs around it.
    fileprivate var trimmingBlanks: String {
        let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 }
        let bytes = Array(utf8.drop(while: isBlank))
        return String(decoding: bytes.prefix((bytes.lastIndex { !isBlank($0) } ?? -1) + 1), as: UTF8.self)
    }
}
