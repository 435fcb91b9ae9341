/// The rules by which secrets are left out of descriptions, errors, logs and cURL commands.
///
/// Names are compared without case, `-` and `_`, which only show where the word `key` begins. ``standard`` is the
/// default everywhere.
public struct ServiceRedaction: Sendable, Hashable {
    /// The text that replaces a secret.
    public static let mark = "<redacted>"

    /// Redacts nothing. For your own eyes only.
    public static let none = ServiceRedaction(words: [], names: [])

    /// Redacts what is commonly secret: credentials, cookies, tokens, passwords, API keys and signatures.
    public static let standard = ServiceRedaction(
        words: [
            "accesskey", "apikey", "assertion", "authentication", "authorization", "cookie", "credential", "passcode",
            "passphrase",
            "passwd", "password", "privatekey", "secret", "session", "signature", "token",
        ],
        names: [
            "auth", "authcode", "bearer", "code", "codeverifier", "devicecode", "dpop", "jwt", "key", "otp", "otpcode",
            "pass", "pin", "pwd", "samlresponse", "sid", "sig", "totp", "usercode", "verificationcode",
        ],
        endings: [
            "bearer", "cvc", "cvv", "dpop", "hmac", "jwt", "otp", "pass", "pin", "pwd", "sid", "sig", "ticket", "totp",
        ],
        beginnings: ["xauth"], plain: ["idempotencykey", "xauthor"],
        finding: [
            "cache", "foreign", "group", "grouping", "lookup", "message", "object", "order", "ordering", "partition",
            "primary", "range", "routing", "row", "shard", "sort", "surrogate",
        ])

    /// Words that make a name secret wherever they occur in it.
    private var words: Set<String>
    /// Whole names, or whole parts of one as `user[pin]` and `user.pin` have them.
    private var names: Set<String>
    /// Words that make a name secret at its end: `X-GitHub-OTP`, `userPin`.
    private var endings: Set<String>
    private var beginnings: Set<String>
    /// Names that only begin or end like secret ones.
    private var plain: Set<String>
    /// Words before `-Key` that locate something: `Partition-Key`, `Sort-Key`. Keys with any other word count as
    /// credentials.
    private var finding: Set<String>

    /// This, with more names that are secret.
    public func adding(_ names: some Sequence<String>) -> ServiceRedaction {
        var result = self
        result.names.formUnion(names.map(Self.folded))
        return result
    }

    /// Returns true if the value of a name is secret: of a header, of a query item, of a field in a body.
    ///
    /// A name with the word `key` is secret, such as `app-key`, `app_key` and `appKey`, but not `appkey`. A harmless
    /// key may be redacted as well.
    public func isSecret(_ name: String) -> Bool {
        self != .none && Self.parts(of: name).contains { isOpeningPart($0) || isKey($0) }
    }

    /// Returns true if the name is that of a credential, by its words.
    private func isOpening(_ name: String) -> Bool {
        self != .none && Self.parts(of: name).contains(where: isOpeningPart)
    }

    /// The whole name, and its parts. A list has its name for each of its values.
    private static func parts(of name: String) -> [String] {
        let name = name.hasSuffix("[]") ? String(name.dropLast(2)) : name
        return [name] + name.split(whereSeparator: isBetweenParts).map(String.init)
    }

    private func isOpeningPart(_ name: String) -> Bool {
        let folded = Self.folded(name)
        if names.contains(folded) || words.contains(where: folded.contains) { return true }
        // By its hyphens, and by its capitals: `X-DPoP` has a word of its own, and so has `userPin`.
        let lastWords = [name.asciiLowercased(), Self.written(name)].map { $0.split { $0 == "-" || $0 == "_" }.last }
        if lastWords.contains(where: { $0.map { endings.contains(String($0)) } ?? false }) { return true }
        guard !plain.contains(where: folded.hasSuffix) else { return false }
        if beginnings.contains(where: folded.hasPrefix) { return true }
        return isKey(name) && !finding.contains(String(Self.written(name).split(separator: "-").dropLast().last ?? ""))
    }

    /// Case matters here: neither `monkey` nor `appkey`, which looks like it, counts as a key.
    private func isKey(_ name: String) -> Bool {
        Self.written(name).hasSuffix("-key") && !plain.contains(where: Self.folded(name).hasSuffix)
    }

    func isSecret(_ field: ServiceHeaders.Field) -> Bool {
        field.isSecret && self != .none || isSecret(field.name.spelling)
    }

    /// Returns true if a header is sent to the origin of the request only. These are fewer than the redacted ones: a
    /// server may not understand a request without a header that only looks secret.
    func isBoundToOrigin(_ field: ServiceHeaders.Field) -> Bool {
        if field.isSecret && self != .none || isOpening(field.name.spelling) { return true }
        // An address with a secret in it, above all that of the page that led here.
        return (field.name == "Referer" || field.value.contains("://")) && url(field.value) != field.value
    }

    func isSecret(_ item: ServiceRequest.Query.Item) -> Bool {
        item.isSecret && self != .none || isSecret(item.name)
    }

    func isSecretParameter(_ name: String, _ value: String) -> Bool { isSecret(name) || findsSecret(in: value) }

    /// This, with names that are secret in one request, unless nothing is.
    func hiding(_ names: [String]) -> ServiceRedaction {
        self == .none ? self : adding(names)
    }

    func value(of field: ServiceHeaders.Field) -> String {
        // A URL in a header (Location, Referer) may hold what would be a secret in the request's own.
        isSecret(field) ? Self.mark : url(field.value)
    }

    private static func isBetweenParts(_ character: Character) -> Bool { ".[]".contains(character) }

    static func folded(_ name: String) -> String {
        name.asciiLowercased().filter { $0 != "-" && $0 != "_" }
    }

    /// A name with `-` for `_`, and before each word that a capital begins: `appKey`, `SSHKey`.
    private static func written(_ name: String) -> String {
        let bytes = Array(name.utf8)
        let isCapital = bytes.map { (65...90).contains($0) }
        var written: [UInt8] = []
        for (place, byte) in bytes.enumerated() {
            // The last of some capitals begins a word if a small letter follows.
            let isBehindWord = place > 0 && !isCapital[place - 1]
            let isBeforeSmall = place + 1 < bytes.count && (97...122).contains(bytes[place + 1])
            if isCapital[place], place > 0, isBehindWord || isBeforeSmall { written.append(UInt8(ascii: "-")) }
            written.append(byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte)
        }
        return String(decoding: written, as: UTF8.self).asciiLowercased()
    }

    private init(
        words: Set<String>, names: Set<String>, endings: Set<String> = [], beginnings: Set<String> = [],
        plain: Set<String> = [],
        finding: Set<String> = []
    ) {
        self.words = words
        self.names = names
        self.endings = endings
        self.beginnings = beginnings
        self.plain = plain
        self.finding = finding
    }
}

extension ServiceRedaction {
    /// Returns true if a field names the content of another field beside it: `{"name": "token", "value": "…"}`.
    static func isLabel(_ name: String) -> Bool {
        isName(name) || ["loc", "param", "path", "property"].contains(folded(name))
    }

    /// Returns true if a label is a name. Other labels are places, and can stand beside a name.
    static func isName(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("name") || folded.hasSuffix("key") || ["field", "header"].contains(folded)
    }

    /// Returns true if a field contains the value that another field names.
    static func isContent(_ name: String) -> Bool {
        let folded = folded(name)
        return folded.hasSuffix("value") || folded.hasSuffix("values")
            || ["content", "input", "rejected"].contains(folded)
    }

    /// Returns true if a value in an object is secret, by its own name or by a label beside it.
    func isSecret(_ name: String, in object: [String: Any]) -> Bool {
        isSecret(name) || Self.isContent(name) && object.contains { Self.isLabel($0.key) && saysSecret($0.value) }
    }

    /// Returns true if a label is a secret name, or a path with one: `["body", "password"]`.
    private func saysSecret(_ label: Any) -> Bool {
        (label as? [Any] ?? [label]).contains { ($0 as? String).map(isSecret) == true }
    }

    /// Returns true if one of some items names the secret that another item contains: `name=token&value=…`.
    func isSecretPair(_ items: [ServiceRequest.Query.Item]) -> Bool {
        self != .none && items.contains { Self.isLabel($0.name) && $0.content.values.contains(where: isSecret) }
    }
}
