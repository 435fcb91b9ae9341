internal import Foundation

extension ServiceRedaction {
    /// The beginning of a body, on one line, without what stands under secret names as far as names can be seen.
    func excerpt(of body: Data, limit: Int = 200) -> String {
        // More than is shown is looked at: a secret that is cut in the middle is one still.
        let text = String(decoding: body.prefix(limit * 8), as: UTF8.self)
        return fields(text).escapedForDescription(limit: limit)
    }

    /// Text in which each value of `"name": value` and `name=value` is left out, where the name is secret.
    ///
    /// Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
    private func fields(_ text: String) -> String {
        guard self != .none else { return text }
        var shown = ""
        var rest = text.unicodeScalars[...]
        while let sign = rest.firstIndex(where: { $0 == ":" || $0 == "=" }) {
            let before = rest[..<sign]
            let name = before.reversed()
                .drop { $0.isSpace || $0 == "\"" || $0 == "'" || $0 == "\\" || $0.properties.isGraphemeExtend }
                .prefix { $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == "-" }
            shown += String(before) + String(rest[sign])
            rest = rest[rest.index(after: sign)...]
            guard !name.isEmpty, isSecret(String(String.UnicodeScalarView(name.reversed()))) else { continue }
            shown += Self.mark
            rest = rest[endOfValue(rest)...]
        }
        return shown + String(rest)
    }

    /// Where a value ends: at its closing quote, or at what separates it from the next one. Of a list or an object it
    /// is the end of everything: what is inside of it is secret too.
    private func endOfValue(_ text: Substring.UnicodeScalarView) -> String.Index {
        let value = text.drop { $0.isSpace || $0 == "\\" }
        guard let first = value.first, first != "[", first != "{" else { return text.endIndex }
        guard first == "\"" || first == "'" else {
            return value.firstIndex { "&,;}])<\"'".unicodeScalars.contains($0) || $0.isLineBreak } ?? text.endIndex
        }
        var isEscaped = false
        for index in value.indices.dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if value[index] == "\\" {
                isEscaped = true
            } else if value[index] == first {
                return value.index(after: index)
            }
        }
        return text.endIndex
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool { properties.isWhitespace }
    fileprivate var isLineBreak: Bool { (10...13).contains(value) || [0x85, 0x2028, 0x2029].contains(value) }
}
