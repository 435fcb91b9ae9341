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
            "accesskey", "apikey", "assertion", "authorization", "cookie", "credential", "passcode", "passphrase",
            "passwd", "password", "privatekey", "secret", "session", "signature", "token",
        ],
        names: [
            "auth", "authcode", "bearer", "code", "codeverifier", "devicecode", "dpop", "jwt", "key", "otp", "otpcode",
            "pass", "pin", "pwd", "samlresponse", "sid", "sig", "totp", "usercode", "verificationcode",
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
        field.isSecret && self != .none || isOpening(field.name.spelling)
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

    /// A URL as it may be shown: without a user, and without what stands under secret names in its query and its
    /// fragment. Addresses in it are shown in the same way.
    ///
    /// Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
    func url(_ text: String) -> String { url(text, levels: 2) }

    /// Whether something secret stands in a text that is an address, or that holds one.
    func findsSecret(in text: String) -> Bool { url(text) != text }

    /// - Parameter levels: How often an address may stand in another one and be looked at. What is deeper isn't shown:
    ///   a server may send as many levels as a header holds.
    private func url(_ text: String, levels: Int) -> String {
        guard self != .none else { return text }
        let text = withoutUsers(text)
        let signs = "?&#;".unicodeScalars
        var rest = text.unicodeScalars[...]
        var shown = String(rest.prefix { !signs.contains($0) })
        rest = rest.drop { !signs.contains($0) }
        while let sign = rest.popFirst() {
            let name = rest.prefix { $0 != "=" && !signs.contains($0) }
            rest = rest[name.endIndex...]
            shown += "\(sign)\(Substring(name))"
            if rest.first == "=", isSecret(String(name).removingEscapes()) {
                shown += "=\(Self.mark)"
                rest = rest.drop { $0 != "&" && $0 != "#" }
            } else {
                let value = String(rest.prefix { !signs.contains($0) })
                rest = rest.drop { !signs.contains($0) }
                // An address that is escaped as a whole.
                let plain = value.removingEscapes()
                let isHidden = plain != value && (levels == 0 || url(plain, levels: levels - 1) != plain)
                shown += isHidden ? "=\(Self.mark)" : value
            }
        }
        return shown
    }

    /// Text without the users of the addresses in it, also where slashes are escaped: `https:\/\/ada:pin@host\/`.
    ///
    /// - Parameter isCut: Whether there is more of it: an address that isn't whole may be nothing but a user.
    func withoutUsers(_ text: String, isCut: Bool = false) -> String {
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
            } else if isCut, authority.endIndex == rest.endIndex {
                return shown + Self.mark
            }
        }
        return shown + String(rest)
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
        words: Set<String>, names: Set<String>, beginnings: Set<String> = [], plain: Set<String> = [],
        finding: Set<String> = []
    ) {
        self.words = words
        self.names = names
        self.beginnings = beginnings
        self.plain = plain
        self.finding = finding
    }
}
