/// What is left out wherever a request or a response is shown: in descriptions, errors, logs and cURL commands.
///
/// Names are compared without regard to case, `-` and `_`. ``standard`` is what everything uses that isn't told
/// otherwise.
public struct ServiceRedaction: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let mark = "<redacted>"

    /// Nothing is secret. Only for your own eyes.
    public static let none = ServiceRedaction(words: [], names: [])

    /// What is commonly secret: credentials, cookies, tokens, passwords, keys of an API and signatures.
    public static let standard = ServiceRedaction(
        words: [
            "accesskey", "apikey", "authorization", "cookie", "credential", "passphrase", "passwd", "password",
            "privatekey", "secret", "session", "signature", "token",
        ],
        names: ["assertion", "auth", "code", "codeverifier", "jwt", "key", "otp", "pass", "pin", "pwd", "sid", "sig"])

    private var words: Set<String>
    private var names: Set<String>

    /// This, with more names that are secret.
    public func adding(_ names: some Sequence<String>) -> ServiceRedaction {
        var result = self
        result.names.formUnion(names.map(Self.folded))
        return result
    }

    /// Whether what stands under a name is secret: the value of a header, of a query item, of a field in a body.
    public func isSecret(_ name: String) -> Bool {
        guard !words.isEmpty || !names.isEmpty else { return false }
        let name = Self.folded(name)
        return names.contains(name) || words.contains { name.contains($0) }
    }

    /// Whether the value of a header is secret.
    func isSecret(_ field: ServiceHeaders.Field) -> Bool {
        field.isSecret && self != .none || isSecret(field.name.spelling)
    }

    /// Whether the value of a query item is secret.
    func isSecret(_ item: ServiceRequest.Query.Item) -> Bool {
        item.isSecret && self != .none || isSecret(item.name)
    }

    /// This, with names that are secret in one request, unless nothing is.
    func hiding(_ names: [String]) -> ServiceRedaction {
        self == .none ? self : adding(names)
    }

    /// The value of a header as it may be shown.
    func value(of field: ServiceHeaders.Field) -> String {
        guard !isSecret(field) else { return Self.mark }
        // A URL in a header (Location, Referer) may hold what would be a secret in the request's own.
        return field.value.contains("://") || field.value.contains("?") ? url(field.value) : field.value
    }

    /// A URL as it may be shown: without a user, and without what stands under secret names in its query and its
    /// fragment.
    ///
    /// Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
    func url(_ text: String) -> String {
        guard self != .none else { return text }
        var text = text
        if let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                text.replaceSubrange(authority.startIndex...at, with: "\(Self.mark)@")
            }
        }
        let signs = "?&#".unicodeScalars
        let start = text.unicodeScalars.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        var shown = String(text[..<start])
        var rest = text.unicodeScalars[start...]
        while let sign = rest.popFirst() {
            let name = rest.prefix { $0 != "=" && !signs.contains($0) }
            rest = rest[name.endIndex...]
            shown += "\(sign)\(Substring(name))"
            if rest.first == "=", isSecret(String(name).removingEscapes()) {
                shown += "=\(Self.mark)"
                rest = rest.drop { $0 != "&" && $0 != "#" }
            } else {
                let value = rest.prefix { !signs.contains($0) }
                rest = rest[value.endIndex...]
                shown += String(value)
            }
        }
        return shown
    }

    private static func folded(_ name: String) -> String {
        name.asciiLowercased().filter { $0 != "-" && $0 != "_" }
    }

    private init(words: Set<String>, names: Set<String>) {
        self.words = words
        self.names = names
    }
}
