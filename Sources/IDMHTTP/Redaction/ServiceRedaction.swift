/// What is left out wherever a request or a response is shown: in descriptions, errors, logs and cURL commands.
///
/// Names are compared without regard to case, `-` and `_`, which tell no more than where the word `key` begins.
/// ``standard`` is what everything uses that isn't told otherwise.
public struct ServiceRedaction: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let mark = "<redacted>"

    /// Nothing is secret. Only for your own eyes.
    public static let none = ServiceRedaction(words: [], names: [])

    /// What is commonly secret: credentials, cookies, tokens, passwords, keys of an API and signatures.
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

    /// What makes a name secret wherever it stands in it.
    private var words: Set<String>
    /// Whole names, or whole parts of one as `user[pin]` and `user.pin` have them.
    private var names: Set<String>
    /// What makes a name secret as its last word: `X-GitHub-OTP`, `userPin`.
    private var endings: Set<String>
    private var beginnings: Set<String>
    /// Names that only begin or end like secret ones.
    private var plain: Set<String>
    /// The words before `-Key` that say that it finds something: `Partition-Key`, `Sort-Key`. Others open something,
    /// for all that anybody knows.
    private var finding: Set<String>

    /// This, with more names that are secret.
    public func adding(_ names: some Sequence<String>) -> ServiceRedaction {
        var result = self
        result.names.formUnion(names.map(Self.folded))
        return result
    }

    /// Whether what stands under a name is secret: the value of a header, of a query item, of a field in a body.
    ///
    /// Whatever is seen to be called a key is, as `app-key`, `app_key` and `appKey`, and not `appkey`: it is better not
    /// to show one that opens nothing.
    public func isSecret(_ name: String) -> Bool {
        self != .none && Self.parts(of: name).contains { isOpeningPart($0) || isKey($0) }
    }

    /// Whether what stands under a name opens something, unless the name says otherwise.
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

    /// As it is written: `monkey` is no key, nor is `appkey`, which nobody can tell from one.
    private func isKey(_ name: String) -> Bool {
        Self.written(name).hasSuffix("-key") && !plain.contains(where: Self.folded(name).hasSuffix)
    }

    /// Whether the value of a header is secret.
    func isSecret(_ field: ServiceHeaders.Field) -> Bool {
        field.isSecret && self != .none || isSecret(field.name.spelling)
    }

    /// Whether a header is for the origin alone that it was made for. Less than what isn't shown: without what only
    /// looks like a secret, a server may not understand the request.
    func isBoundToOrigin(_ field: ServiceHeaders.Field) -> Bool {
        if field.isSecret && self != .none || isOpening(field.name.spelling) { return true }
        // An address with a secret in it, above all that of the page that led here.
        return (field.name == "Referer" || field.value.contains("://")) && url(field.value) != field.value
    }

    /// Whether the value of a query item is secret.
    func isSecret(_ item: ServiceRequest.Query.Item) -> Bool {
        item.isSecret && self != .none || isSecret(item.name)
    }

    /// Whether the value of a parameter of a path is secret.
    func isSecretParameter(_ name: String, _ value: String) -> Bool { isSecret(name) || findsSecret(in: value) }

    /// This, with names that are secret in one request, unless nothing is.
    func hiding(_ names: [String]) -> ServiceRedaction {
        self == .none ? self : adding(names)
    }

    /// The value of a header as it may be shown.
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
