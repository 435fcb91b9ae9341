internal import Foundation

extension ServiceRedaction {
    /// The beginning of a body, on one line, without what stands under secret names as far as names can be seen. Of
    /// one that isn't text they can't be: it is named by its length.
    func excerpt(of body: Data, limit: Int = 200) -> String {
        // More than is shown is looked at: a secret that is cut in the middle is one still.
        guard let text = body.beginningOfText(limit * 8) else { return "<\(body.count) bytes>" }
        let isCut = body.count > limit * 8
        let shown = self == .none ? text : fields(withoutCredentials(withoutUsers(text)), isCut: isCut)
        return shown.escapedForDescription(limit: limit)
    }

    /// Text without what stands behind `Bearer` and `Basic`, as servers quote it. What has no digit in it is a word like
    /// others: `Basic authentication`.
    private func withoutCredentials(_ text: String) -> String {
        let credential = /(bearer|basic) +(?=[A-Za-z._~+\/=-]*[0-9])[A-Za-z0-9._~+\/=-]+/
        return text.replacing(credential.ignoresCase().matchingSemantics(.unicodeScalar)) {
            "\($0.output.1) \(Self.mark)"
        }
    }

    /// Text in which each value of `"name": value`, `name=value` and `<name>value</name>` is left out, where the name
    /// is secret. Some have their names beside them: those of ``isLabel(_:)``, and of property lists, as
    /// `<key>name</key><string>value</string>`.
    ///
    /// Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
    private func fields(_ text: String, isCut: Bool) -> String {
        var shown = ""
        var rest = text.unicodeScalars[...]
        var label = ""
        var pair = Pair()
        while let sign = rest.firstIndex(where: { $0 == ":" || $0 == "=" || $0 == ">" }) {
            let isElement = rest[sign] == ">"
            let tag = isElement ? text.unicodeScalars[..<sign].lastIndex(of: "<") : nil
            let name =
                isElement
                ? text.unicodeScalars[..<sign].nameOfElement : rest[..<sign].nameAtEnd(isField: rest[sign] == "=")
            shown += String(rest[...sign])
            rest = rest[rest.index(after: sign)...]
            guard !name.isEmpty else { continue }
            // Of a property list `key` has the name of what comes next.
            let isLabel = isElement && ["key", "name"].contains(name)
            var isSecret = !isLabel && isSecret(name) || isElement && isSecret(label)
            if isElement {
                label = isLabel ? rest.wordBeforeElement : ""
                if let tag, pair.isOfTag(tag), pair.labels.contains(where: self.isSecret) { isSecret = true }
            } else if Self.isLabel(name) {
                pair.add(rest.word, at: sign, end: pairBehind(rest).end)
            } else if Self.isContent(name) {
                let behind = pairBehind(rest)
                pair.value = sign
                if sign < pair.end ?? sign {
                    isSecret = isSecret || pair.labels.contains(where: self.isSecret)
                } else if isCut, behind.labels.isEmpty, behind.end == text.endIndex, !rest.beginsGroup {
                    // It is cut before it says its name: nobody knows what it is.
                    isSecret = true
                }
                isSecret = isSecret || behind.labels.contains(where: self.isSecret)
            }
            guard isSecret else { continue }
            shown += Self.mark
            rest = rest[(isElement ? endOfContent(rest) : endOfValue(rest))...]
        }
        return shown + String(rest)
    }

    /// The names that stand beside their values, as the fields before have said them.
    private struct Pair {
        private(set) var labels: [String] = []
        /// Where the last name is, and where the object or the tag ends that the first one is in.
        private var place: String.Index?
        private(set) var end: String.Index?
        /// Where the last value is.
        var value: String.Index?

        mutating func add(_ label: String, at place: String.Index, end: String.Index) {
            // An object may have several, and others in it that have some.
            if let known = self.end, place < known {
                labels.append(label)
            } else {
                (labels, self.end) = ([label], end)
            }
            self.place = place
        }

        /// Whether the value is what a tag encloses, and doesn't stand in it as well.
        func isOfTag(_ tag: String.Index) -> Bool {
            place.map { $0 > tag } == true && value.map { $0 > tag } != true
        }
    }

    /// What is behind a value in the same object, or in the same tag: the names, as in `{"value": "…", "name": "token"}`,
    /// and where it ends.
    private func pairBehind(_ text: Substring.UnicodeScalarView) -> (labels: [String], end: String.Index) {
        var (index, depth, labels) = (text.startIndex, 0, [String]())
        while index < text.endIndex {
            switch text[index] {
            case "\"", "'":
                index = endOfValue(text[index...])
                continue
            case "{", "[":
                depth += 1
            case "}", "]", ">":
                guard depth > 0 else { return (labels, index) }
                depth -= 1
            case ":", "=":
                let name = depth == 0 ? text[..<index].nameAtEnd(isField: text[index] == "=") : ""
                if Self.isLabel(name) { labels.append(text[index...].dropFirst().word) }
            default:
                break
            }
            index = text.index(after: index)
        }
        return (labels, index)
    }

    /// Where the content of an element ends: at the next tag. If that opens another one it is the end of everything, as
    /// it is for lists and objects.
    private func endOfContent(_ text: Substring.UnicodeScalarView) -> String.Index {
        let tag = text.drop { $0 != "<" }
        return text.first { !$0.isSpace } == "<" && tag.dropFirst().first != "/" ? text.endIndex : tag.startIndex
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

extension Data {
    /// So many bytes as text, without the letter that is cut at their end. Nil if they aren't text.
    fileprivate func beginningOfText(_ count: Int) -> String? {
        var end = index(startIndex, offsetBy: count, limitedBy: endIndex) ?? endIndex
        while end < endIndex, end > startIndex, self[end] & 0xC0 == 0x80 { end -= 1 }
        let text = String(validating: self[..<end], as: UTF8.self)
        return text?.utf8.contains(0) == true ? nil : text
    }
}

extension Substring.UnicodeScalarView {
    /// Whether a value is a list or an object.
    fileprivate var beginsGroup: Bool { first { !$0.isSpace }.map { $0 == "[" || $0 == "{" } ?? false }

    /// What a value says, without its quotes.
    fileprivate var word: String {
        let word = drop { $0.isSpace || "\"'\\".unicodeScalars.contains($0) }
        return String(Substring(word.prefix { !"\"'\\,;&<>{}[]".unicodeScalars.contains($0) && !$0.isLineBreak }))
    }

    /// The name before a `:` or a `=`.
    ///
    /// - Parameter isField: Whether it is one of a form, which may be escaped, and have parts: `user[pin]`.
    fileprivate func nameAtEnd(isField: Bool) -> String {
        let name = reversed()
            .drop { $0.isSpace || $0 == "\"" || $0 == "'" || $0 == "\\" || $0.properties.isGraphemeExtend }
            .prefix { $0.isPartOfName || isField && "[].%".unicodeScalars.contains($0) }
        return String(String.UnicodeScalarView(name.reversed())).removingEscapes()
    }

    /// The name of the element whose tag isn't closed yet. Empty if there is none, or if the tag ends it.
    fileprivate var nameOfElement: String {
        guard let tag = lastIndex(of: "<") else { return "" }
        let name = self[tag...].dropFirst().prefix { $0.isPartOfName || $0 == ":" }
        return String(Substring(name.split(separator: ":").last ?? name))
    }

    /// What stands before the next tag, if it is one word.
    fileprivate var wordBeforeElement: String {
        let word = prefix { $0 != "<" }
        return word.allSatisfy(\.isPartOfName) ? String(word) : ""
    }
}

extension Unicode.Scalar {
    fileprivate var isPartOfName: Bool {
        properties.isAlphabetic || properties.numericType != nil || self == "_" || self == "-"
    }
    fileprivate var isSpace: Bool { properties.isWhitespace }
    fileprivate var isLineBreak: Bool { (10...13).contains(value) || [0x85, 0x2028, 0x2029].contains(value) }
}
