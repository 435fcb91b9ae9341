internal import Foundation

extension ServiceRedaction {
    /// The number of nested levels of addresses, escapes or JSON that are examined. A value with more levels is
    /// redacted: a server can send as many as fit into a header.
    private static let levels = 3
    private static let signs = "?&#;".unicodeScalars

    /// A URL without its user, and without the secret values in its query and fragment: those under a secret name, those
    /// beside a field that contains a secret name (`name=token&value=…`), and those that contain a secret, however it is
    /// escaped.
    ///
    /// Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
    func url(_ text: String) -> String { url(text, levels: Self.levels) }

    /// Returns true if an unescaped value contains a secret: an address or a form with one, a field `password: …`, or
    /// JSON.
    func findsSecret(in value: String) -> Bool { findsSecret(in: value, levels: Self.levels) }

    /// - Parameter levels: How many more levels of a value are looked at.
    private func url(_ text: String, levels: Int) -> String {
        guard self != .none else { return text }
        let text = withoutUsers(text)
        let signs = Self.signs
        guard text.unicodeScalars.contains(where: signs.contains) else { return text }
        let isPair = hasLabelOfSecret(text)
        var rest = text.unicodeScalars[...]
        var shown = String(rest.prefix { !signs.contains($0) })
        rest = rest.drop { !signs.contains($0) }
        while let sign = rest.popFirst() {
            let name = rest.prefix { $0 != "=" && !signs.contains($0) }
            rest = rest[name.endIndex...]
            shown += "\(sign)\(Substring(name))"
            let plainName = String(name).removingEscapes()
            if rest.first == "=", isSecret(plainName) || isPair && Self.isContent(plainName) {
                shown += "=\(Self.mark)"
                rest = rest.drop { $0 != "&" && $0 != "#" }
            } else {
                let value = String(rest.prefix { !signs.contains($0) })
                rest = rest.drop { !signs.contains($0) }
                shown += isSecretEscaped(String(value.dropFirst()), levels: levels) ? "=\(Self.mark)" : value
            }
        }
        return shown
    }

    /// Returns true if a field of a query names the secret that another field contains.
    private func hasLabelOfSecret(_ text: String) -> Bool {
        let fields = text.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: Self.signs.contains)
        return fields.dropFirst().contains { field in
            guard let sign = field.firstIndex(of: "=") else { return false }
            return Self.isLabel(String(field[..<sign]).removingEscapes())
                && isSecret(String(field[sign...].dropFirst()).removingEscapes())
        }
    }

    private func isSecretEscaped(_ value: String, levels: Int) -> Bool {
        let plain = value.removingEscapes()
        guard plain != value else { return namesSecret(value) }
        return levels == 0 || findsSecret(in: plain, levels: levels - 1)
    }

    private func findsSecret(in value: String, levels: Int) -> Bool {
        guard self != .none, !value.isEmpty else { return false }
        // As the query of an address: the first field of a form has no sign before it.
        let query = "?\(value)"
        return url(query, levels: levels) != query || isSecretEscaped(value, levels: levels)
            || holdsSecretJSON(value, levels: levels)
    }

    /// Returns true if a text has a secret name before a colon, as JSON, GraphQL and headers do: `logIn(password:
    /// "x")`.
    private func namesSecret(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return false }
        let name = /([A-Za-z0-9_.\[\]-]+)[\\"' ]*:/.matchingSemantics(.unicodeScalar)
        return text.matches(of: name).contains { isSecret(String($0.output.1)) }
    }

    private func holdsSecretJSON(_ text: String, levels: Int) -> Bool {
        let first = text.utf8.first { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 }
        guard levels > 0, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        else { return false }
        return isSecretJSON(value, levels: levels - 1)
    }

    private func isSecretJSON(_ value: Any, levels: Int) -> Bool {
        switch value {
        case let object as [String: Any]:
            object.contains { isSecret($0.key, in: object) || isSecretJSON($0.value, levels: levels) }
        case let array as [Any]: array.contains { isSecretJSON($0, levels: levels) }
        case let text as String: findsSecret(in: text, levels: levels)
        default: false
        }
    }

    /// Text without the users of the addresses in it, also where slashes are escaped: `https:\/\/ada:pin@host\/`.
    func withoutUsers(_ text: String) -> String {
        var shown = ""
        var rest = text.unicodeScalars[...]
        while let slash = rest.firstIndex(of: "/") {
            shown += String(rest[...slash])
            rest = rest[slash...].dropFirst()
            let second = rest.first == "\\" ? rest.dropFirst() : rest
            guard second.first == "/" else { continue }
            shown += String(rest[...second.startIndex])
            rest = second.dropFirst()
            let authority = rest.prefix { !"/?#\"<>".unicodeScalars.contains($0) && !$0.properties.isWhitespace }
            if let at = authority.lastIndex(of: "@") {
                shown += "\(Self.mark)@"
                rest = rest[at...].dropFirst()
            }
        }
        return shown + String(rest)
    }
}
