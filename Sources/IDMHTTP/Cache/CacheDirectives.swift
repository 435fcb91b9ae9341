/// The directives of a `Cache-Control` header (RFC 9111, 5.2), as a recipient has to read them: without regard to case,
/// in any order, repeated, quoted or out of range.
struct CacheDirectives: Sendable {
    private var arguments: [String: [String?]] = [:]

    /// The largest number of seconds that counts. A larger one stands for it (RFC 9111, 1.2.2).
    static let mostSeconds = Int(Int32.max)

    /// - Parameter isRequest: Whether `Pragma: no-cache` counts where there is no `Cache-Control`.
    init(_ headers: ServiceHeaders, isRequest: Bool = false) {
        let values = headers.values(of: .cacheControl)
        for directive in values.flatMap({ Self.split($0) }) {
            let name = directive.prefix { $0 != "=" }
            let argument = directive[name.endIndex...].dropFirst()
            let text = argument.isEmpty ? nil : Self.unquoted(Self.trimmed(argument))
            let key = Self.trimmed(name).asciiLowercased()
            if !key.isEmpty { arguments[key, default: []].append(text) }
        }
        if isRequest, values.isEmpty, headers.values(of: "Pragma").contains(where: Self.saysNoCache) {
            arguments["no-cache"] = [nil]
        }
    }

    func has(_ name: String) -> Bool { arguments[name] != nil }

    /// Returns true if a directive is present without an argument.
    func isUnlimited(_ name: String) -> Bool { arguments[name]?.contains { $0 == nil } ?? false }

    /// The seconds that a directive names, the least of them if it is repeated. Nil without the directive. An argument
    /// that is no number, and a missing one, is 0: the response is stale.
    func seconds(_ name: String) -> Int? {
        arguments[name].map { $0.map(Self.seconds).min() ?? 0 }
    }

    private static func seconds(_ text: String?) -> Int {
        guard let text, text.consists(of: .digits) else { return 0 }
        return min(Int(text) ?? mostSeconds, mostSeconds)
    }

    private static func saysNoCache(_ pragma: String) -> Bool {
        split(pragma).contains { trimmed($0).asciiLowercased() == "no-cache" }
    }

    private static func split(_ text: String) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let rest = text.drop(while: isBlank)
        return String(rest.reversed().drop(while: isBlank).reversed())
    }

    private static func unquoted(_ text: String) -> String {
        guard text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 else { return text }
        return String(text.dropFirst().dropLast())
    }
}
