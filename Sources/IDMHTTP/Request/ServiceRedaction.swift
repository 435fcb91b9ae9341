/// What is left out wherever a request or a response is shown: in descriptions, errors, logs and cURL commands.
///
/// Names are compared without regard to case, `-` and `_`. ``standard`` is what everything uses that isn't told otherwise.
public struct ServiceRedaction: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let mark = "<redacted>"

    /// Nothing is secret. Only for your own eyes.
    public static let none = ServiceRedaction(words: [], names: [])

    /// What is commonly secret: credentials, cookies, tokens, passwords, keys of an API and signatures.
    public static let standard = ServiceRedaction(
        words: [
            "apikey", "accesskey", "authorization", "cookie", "credential", "passphrase", "passwd", "password",
            "privatekey",
            "secret", "session", "signature", "token",
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

    /// The value of a header as it may be shown.
    func value(of field: ServiceHeaders.Field) -> String {
        guard !isSecret(field) else { return Self.mark }
        // A URL in a header (Location, Referer) may hold what would be a secret in the request's own.
        return field.value.contains("://") || field.value.contains("?") ? url(field.value) : field.value
    }

    /// A URL as it may be shown: without a user, and without the values of secret query names.
    func url(_ text: String) -> String {
        guard self != .none else { return text }
        var text = text
        if let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                text.replaceSubrange(authority.startIndex...at, with: "\(Self.mark)@")
            }
        }
        guard let mark = text.firstIndex(of: "?") else { return text }
        let query = text[text.index(after: mark)...]
        let shown = query.split(separator: "&", omittingEmptySubsequences: false).map { item -> String in
            let name = item.prefix { $0 != "=" }
            guard name.endIndex < item.endIndex, isSecret(String(name).removingEscapes()) else { return String(item) }
            return "\(name)=\(Self.mark)"
        }
        return text[...mark] + shown.joined(separator: "&")
    }

    private static func folded(_ name: String) -> String {
        name.asciiLowercased().filter { $0 != "-" && $0 != "_" }
    }

    private init(words: Set<String>, names: Set<String>) {
        self.words = words
        self.names = names
    }
}
