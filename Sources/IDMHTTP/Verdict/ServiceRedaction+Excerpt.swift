internal import Foundation

extension ServiceRedaction {
    /// The beginning of a body, on one line, without what stands under secret names as far as names can be seen. Of
    /// one that isn't text they can't be: it is named by its length.
    ///
    /// Rather too much is left out than too little: nobody knows what a body is.
    func excerpt(of body: Data, limit: Int = 200) -> String {
        // More than is shown is looked at: a secret that is cut in the middle is one still.
        guard let text = body.beginningOfText(limit * 8) else { return "<\(body.count) bytes>" }
        let shown = self == .none ? text : withoutSecrets(text, isCut: body.count > limit * 8)
        return shown.escapedForDescription(limit: limit)
    }

    /// Text without what stands under secret names.
    ///
    /// - Parameter isCut: Whether there is more of it.
    func withoutSecrets(_ text: String, isCut: Bool) -> String {
        let plain = withoutCredentials(withoutUsers(text))
        return BodyRules(BodyReader(plain, redaction: self, isCut: isCut), redaction: self).shown
    }

    /// Text without what stands behind `Bearer` and `Basic`, as servers quote it. What has no digit in it is a word like
    /// others: `Basic authentication`.
    private func withoutCredentials(_ text: String) -> String {
        let credential = /(bearer|basic) +(?=[A-Za-z._~+\/=-]*[0-9])[A-Za-z0-9._~+\/=-]+/
        return text.replacing(credential.ignoresCase().matchingSemantics(.unicodeScalar)) {
            "\($0.output.1) \(Self.mark)"
        }
    }
}

/// What is secret of what a reader has found, and where it ends.
private struct BodyRules {
    private let reader: BodyReader
    private let redaction: ServiceRedaction
    private var text: [Unicode.Scalar] { reader.text }

    init(_ reader: BodyReader, redaction: ServiceRedaction) {
        self.reader = reader
        self.redaction = redaction
    }

    /// The text, with a mark in place of each secret.
    var shown: String {
        var shown = String.UnicodeScalarView()
        var place = 0
        for clue in reader.clues where clue.place >= place {
            guard let end = endOfSecret(clue) else { continue }
            shown += text[place..<clue.place]
            shown += ServiceRedaction.mark.unicodeScalars
            place = end
        }
        shown += text[place...]
        return String(shown)
    }

    /// Where a secret ends that stands behind a clue. Nil if there is none.
    private func endOfSecret(_ clue: BodyReader.Clue) -> Int? {
        switch clue.kind {
        case .value(let name, let group, let isNamed, let isLine):
            guard redaction.isSecret(name) || isSecretValue(of: name, in: reader.groups[group], isNamed, clue.place)
            else { return nil }
            let end = endOfValue(clue.place)
            // A header may quote its value, or parts of it.
            return isLine ? max(end, endOfLine(clue.place)) : end
        case .content(let name, let label, let group):
            let group = reader.groups[group]
            let isSecret =
                redaction.isSecret(name) || redaction.isSecret(label) || group.saysSecret && !group.holdsValue
            return isSecret ? endOfContent(clue.place) : nil
        case .next(let name):
            guard redaction.isSecret(name), !isHidden(clue.place) else { return nil }
            return endOfValue(clue.place)
        case .part(let boundary):
            return boundary.flatMap { text.line(text[$0], from: clue.place) } ?? text.count
        case .rows(let names):
            return names.contains(where: redaction.isSecret) ? text.count : nil
        }
    }

    /// Whether a value has its name beside it, and that is secret or can't be seen: as one of a group that is cut, whose
    /// name may be further behind.
    private func isSecretValue(of name: String, in group: BodyReader.Group, _ isNamed: Bool, _ place: Int) -> Bool {
        guard ServiceRedaction.isContent(name) else { return false }
        if group.saysSecret || group.isInSecret { return true }
        return group.isCut && (!isNamed || group.saysCutName) && !beginsGroup(place)
    }

    /// Whether what stands here is a credential that is left out already.
    private func isHidden(_ place: Int) -> Bool {
        let value = String(String.UnicodeScalarView(text[place..<endOfValue(place)]))
        let words = value.lowercased().split { $0.isWhitespace || "\"'\\".contains($0) }
        return words == ["bearer", "<redacted>"] || words == ["basic", "<redacted>"]
    }

    private func beginsGroup(_ place: Int) -> Bool {
        text[text.skippingSpaces(from: place)...].first.map { $0 == "[" || $0 == "{" } ?? false
    }

    // MARK: Ends

    private func endOfLine(_ place: Int) -> Int {
        text[place...].firstIndex(where: \.isLineBreak) ?? text.count
    }

    /// Where the content of an element ends: at the next tag. If that opens another one it is the end of everything, as
    /// it is for lists and objects.
    private func endOfContent(_ place: Int) -> Int {
        let content = text[place...].drop(while: \.isSpace)
        let tag = content.firstIndex(of: "<") ?? text.count
        return tag == content.startIndex && text[tag...].dropFirst().first != "/" ? text.count : tag
    }

    /// Where a value ends: at its closing quote, or at what separates it from the next one. Of a list or an object it
    /// is the end of everything: what is inside of it is secret too.
    private func endOfValue(_ place: Int) -> Int {
        let value = text[text.skippingSpaces(from: place)...]
        guard let first = value.first, first != "[", first != "{" else { return text.count }
        if first == "\"" || first == "'" {
            return text.closingQuote(from: value.startIndex).map { $0 + 1 } ?? text.count
        }
        return value.firstIndex { "&,;}])<\"'".unicodeScalars.contains($0) || $0.isLineBreak } ?? text.count
    }
}

extension [Unicode.Scalar] {
    /// Where a line break is behind which a line begins with this.
    fileprivate func line(_ beginning: ArraySlice<Unicode.Scalar>, from start: Int) -> Int? {
        let sign = indices[start...].first {
            self[$0].isLineBreak && self[($0 + 1)...].starts(with: beginning)
        }
        guard let sign, sign > start, self[sign] == "\n", self[sign - 1] == "\r" else { return sign }
        return sign - 1
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
