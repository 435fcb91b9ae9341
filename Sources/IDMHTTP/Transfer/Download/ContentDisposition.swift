/// What a server suggests to call a file (RFC 6266).
enum ContentDisposition {
    /// The name that a header holds, as it stands there: it may be anything. The form that says its character set comes
    /// first. Nil if there is none.
    static func fileName(in header: String) -> String? {
        let parameters = parameters(of: header)
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        return value("filename*").flatMap(decoded) ?? value("filename")
    }

    /// The parameters behind the type. What comes after something that is none is left out.
    private static func parameters(of header: String) -> [(name: String, value: String)] {
        var found: [(String, String)] = []
        // As bytes: what is a character together with what stands before it must not hide a quote.
        var rest = header.utf8.drop { $0 != .semicolon }
        while rest.popFirst() == .semicolon {
            rest = rest.drop(while: \.isBlank)
            guard rest.first != .semicolon else { continue }
            let name = rest.prefix { $0 != .equals && $0 != .semicolon }
            rest = rest.dropFirst(name.count)
            guard rest.popFirst() == .equals else { break }
            rest = rest.drop(while: \.isBlank)
            guard let value = rest.first == .quote ? quoted(&rest) : token(&rest) else { break }
            found.append((String(decoding: name, as: UTF8.self).trimmed.asciiLowercased(), value))
            rest = rest.drop(while: \.isBlank)
        }
        return found
    }

    private static func token(_ rest: inout Substring.UTF8View) -> String {
        let value = rest.prefix { $0 != .semicolon }
        rest = rest.dropFirst(value.count)
        return String(decoding: value, as: UTF8.self).trimmed
    }

    /// What stands between quotes. Nil if they don't end.
    private static func quoted(_ rest: inout Substring.UTF8View) -> String? {
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == .quote { return String(decoding: bytes, as: UTF8.self) }
            if byte == .backslash {
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }

    /// A value with a character set and a language before it, and percent-escapes in it (RFC 8187).
    private static func decoded(_ value: String) -> String? {
        let parts = value.unicodeScalars.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            .map { String($0) }
        guard parts.count == 3, parts[2].hasSoundEscapes else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[2].utf8[...]
        while let byte = rest.popFirst() {
            guard byte == .percent else {
                bytes.append(byte)
                continue
            }
            guard let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        switch parts[0].asciiLowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}

extension UInt8 {
    fileprivate static let semicolon = UInt8(ascii: ";")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let backslash = UInt8(ascii: "\\")
    fileprivate static let percent = UInt8(ascii: "%")

    fileprivate var isBlank: Bool { self == 32 || self == 9 }
}

extension String {
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: String {
        let bytes = Array(utf8.drop(while: \.isBlank))
        return String(decoding: bytes.prefix((bytes.lastIndex { !$0.isBlank } ?? -1) + 1), as: UTF8.self)
    }
}
