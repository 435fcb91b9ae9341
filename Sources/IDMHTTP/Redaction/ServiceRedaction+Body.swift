internal import Foundation

extension ServiceRedaction {
    /// The most bytes of a body that is parsed to quote it.
    private static let mostParsed = 64 << 10

    /// The beginning of a body on one line, with its secret fields redacted. Only JSON and forms are quoted: in them the
    /// name of each value is known. Any other body is named by its type and its length.
    ///
    /// - Parameters:
    ///   - contentType: The `Content-Type` of the body, if it is known.
    ///   - limit: The most characters that are shown.
    func excerpt(of body: Data, contentType: String? = nil, limit: Int = 200) -> String {
        guard !body.isEmpty else { return "" }
        guard self != .none else {
            let text = String(decoding: body.prefix(limit * 8), as: UTF8.self)
            return text.escapedForDescription(limit: limit)
        }
        guard let shown = redactedJSON(body) ?? redactedForm(body, contentType) else {
            let type = contentType.map { "\($0.prefix(100)), " } ?? ""
            return "<\(type.escapedForDescription())\(body.count) bytes>"
        }
        return shown.escapedForDescription(limit: limit)
    }

    /// An object or an array of JSON without the values under secret names, and without values that hold a secret. Nil
    /// if the body is none.
    func redactedJSON(_ body: Data) -> String? {
        guard body.count <= Self.mostParsed, let value = try? JSONSerialization.jsonObject(with: body),
            let shown = try? JSONSerialization.data(
                withJSONObject: redacted(value), options: [.sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        return String(decoding: shown, as: UTF8.self)
    }

    private func redacted(_ value: Any) -> Any {
        switch value {
        case let object as [String: Any]:
            Dictionary(
                uniqueKeysWithValues: object.map { name, value in
                    (name, isSecret(name, in: object) ? Self.mark : redacted(value))
                })
        case let array as [Any]: redactedList(array)
        case let text as String: holdsSecret(text) ? Self.mark : text
        default: value
        }
    }

    /// A list may name its next element: `["token", "abc"]`.
    private func redactedList(_ list: [Any]) -> [Any] {
        let label = list.firstIndex { ($0 as? String).map(isSecret) == true } ?? list.endIndex
        return list.enumerated().map { $0 > label ? Self.mark : redacted($1) }
    }

    /// Returns true if a text contains a secret: a field with a secret name, or a recognizable credential.
    private func holdsSecret(_ text: String) -> Bool {
        if findsSecret(in: text) { return true }
        // A text without a digit is an ordinary word: `Basic authentication`.
        let credential = /(?:bearer|basic) +([a-z0-9._~+\/=-]*[0-9=.][a-z0-9._~+\/=-]*)/.ignoresCase()
        let token = /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9._-]*/
        return text.firstMatch(of: credential.matchingSemantics(.unicodeScalar)) != nil
            || text.firstMatch(of: token.matchingSemantics(.unicodeScalar)) != nil
    }

    /// A form without the values of secret fields. Nil if the body is none.
    private func redactedForm(_ body: Data, _ contentType: String?) -> String? {
        guard body.count <= Self.mostParsed, let text = String(validating: body, as: UTF8.self), text.isForm,
            contentType?.asciiLowercased().hasPrefix("application/x-www-form-urlencoded") ?? true
        else { return nil }
        return String(url("?\(text)").dropFirst())
    }
}

extension String {
    /// True for a form in the notation of browsers: fields of a name, `=` and a value, with all other characters
    /// escaped.
    fileprivate var isForm: Bool {
        let allowed = ByteSet.form.union(ByteSet("+%[]~"))
        return hasSoundEscapes
            && split(separator: "&", omittingEmptySubsequences: false).allSatisfy { field in
                let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 && !parts[0].isEmpty
                    && parts.allSatisfy { $0.utf8.allSatisfy(allowed.contains) }
            }
    }
}
