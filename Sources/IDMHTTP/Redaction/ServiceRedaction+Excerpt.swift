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
        let plain = withoutCredentials(withoutUsers(text, isCut: isCut), isCut: isCut)
        return BodyRules(BodyReader(plain, redaction: self, isCut: isCut), redaction: self).shown
    }

    /// Text without what stands behind `Bearer` and `Basic`, as servers quote it, and without tokens that are seen to
    /// be some (JWT). What has no digit in it is a word like others, `Basic authentication`, if it is whole.
    private func withoutCredentials(_ text: String, isCut: Bool) -> String {
        let credential = /(bearer|basic) +([a-z0-9._~+\/=-]+)/.ignoresCase().matchingSemantics(.unicodeScalar)
        let token = /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9._-]*/.matchingSemantics(.unicodeScalar)
        return text.replacing(credential) { found in
            let isWord = !found.output.2.contains(where: \.isNumber)
            return isWord && !(isCut && found.range.upperBound == text.endIndex)
                ? String(found.output.0) : "\(found.output.1) \(Self.mark)"
        }
        .replacing(token, with: Self.mark)
    }
}

/// What is secret of what a reader has found, and where it ends.
private struct BodyRules {
    private let reader: BodyReader
    private let redaction: ServiceRedaction
    private let text: [Unicode.Scalar]

    init(_ reader: BodyReader, redaction: ServiceRedaction) {
        self.reader = reader
        self.redaction = redaction
        text = reader.body.scalars
    }

    /// The text, with a mark in place of each secret.
    var shown: String {
        let body = reader.body
        var shown = String.UnicodeScalarView()
        var place = 0
        for clue in reader.clues where clue.place >= place {
            guard let end = endOfSecret(clue) else { continue }
            shown += body.source[body.place(of: place)..<body.place(of: clue.place)]
            shown += ServiceRedaction.mark.unicodeScalars
            place = end
        }
        shown += body.source[body.place(of: place)...]
        return String(shown)
    }

    /// Where a secret ends that stands behind a clue. Nil if there is none.
    private func endOfSecret(_ clue: BodyReader.Clue) -> Int? {
        switch clue.kind {
        case .value(let name, let group, let isNamed, let line):
            guard redaction.isSecret(name) || isSecretValue(of: name, in: reader.groups[group], isNamed, clue.place)
            else { return nil }
            let end = endOfValue(clue.place)
            // A header may quote its value, or parts of it.
            return line.map { max(end, endOfLines($0, clue.place)) } ?? end
        case .content(let name, let label, let group):
            let group = reader.groups[group]
            let isSecret =
                redaction.isSecret(name) || redaction.isSecret(label) || group.saysSecret && !group.holdsValue
            return isSecret ? endOfContent(clue.place) : nil
        case .next(let name):
            guard redaction.isSecret(name), !isHidden(clue.place) else { return nil }
            return endOfValue(clue.place)
        case .part(let boundary):
            return boundary.flatMap { lineBreak(clue.place, before: text[$0]) } ?? text.count
        case .rows(let names):
            guard names.contains(where: redaction.isSecret), isRow(clue.place, of: names) else { return nil }
            return text.count
        }
    }

    /// Whether what stands below some names is a row of a table. Text has names in its first line as well: `Error, no
    /// token`.
    private func isRow(_ place: Int, of names: [String]) -> Bool {
        guard names.count > 1, let start = text[place...].firstIndex(where: { !$0.isSpace }) else { return true }
        let row = text[start..<endOfLine(place, from: start)]
        if row.contains(where: \.isBetweenCells) || text[start].isQuote { return true }
        // One that is cut off before its first cell ends.
        return row.endIndex == text.count && redaction.isSecret(names[0])
    }

    /// Whether a value has its name beside it, and that is secret or can't be seen: as one of a group that is cut,
    /// whose name may be further behind.
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

    /// Whether a sign may end what stands behind a clue: not if it is escaped, and the sign that began it isn't.
    private func isSign(_ index: Int, for place: Int) -> Bool {
        !reader.body.isEscaped(index) || reader.body.isEscaped(place - 1)
    }

    /// The next of some signs that may end what stands behind a clue.
    private func end(_ place: Int, from start: Int, where isEnd: (Unicode.Scalar) -> Bool) -> Int {
        text.indices[start...].first { isEnd(text[$0]) && isSign($0, for: place) } ?? text.count
    }

    private func endOfLine(_ place: Int, from start: Int) -> Int { end(place, from: start, where: \.isLineBreak) }

    /// Where a line ends, with those below it that go on with it: they begin further inside, or as items of its list.
    private func endOfLines(_ line: BodyReader.Line, _ place: Int) -> Int {
        var end = endOfLine(place, from: place)
        while let next = text[end...].firstIndex(where: { !$0.isSpace }), next < line.end {
            let lineBreak = text.indices[end..<next].last { text[$0].isLineBreak && isSign($0, for: place) } ?? end
            let indent = next - lineBreak - 1
            guard indent > line.indent || indent == line.indent && text[next...].starts(with: "- ".unicodeScalars)
            else {
                break
            }
            end = endOfLine(place, from: next)
        }
        return min(end, line.end)
    }

    /// Where a line break is behind which a line begins with this.
    private func lineBreak(_ place: Int, before beginning: ArraySlice<Unicode.Scalar>) -> Int? {
        let sign = text.indices[place...].first {
            text[$0].isLineBreak && isSign($0, for: place) && text[($0 + 1)...].starts(with: beginning)
        }
        guard let sign, sign > place, text[sign] == "\n", text[sign - 1] == "\r" else { return sign }
        return sign - 1
    }

    /// Where the content of an element ends: at the next tag. If nothing stands before one that opens another element,
    /// it is the end of everything, as it is for lists and objects; also where content is marked, or a comment.
    private func endOfContent(_ place: Int) -> Int {
        let start = text[place...].firstIndex { !$0.isSpace } ?? text.count
        let tag = end(place, from: start) { $0 == "<" }
        let sign = text[tag...].dropFirst().first
        return sign != "/" && (sign == "!" || tag == start) ? text.count : tag
    }

    /// Where a value ends: at its closing quote, or at what separates it from the next one. Of a list or an object it
    /// is the end of everything: what is inside of it is secret too. So it is where a comment stands before the value.
    private func endOfValue(_ place: Int) -> Int {
        let start = text.skippingToValue(from: place)
        let value = text[start...]
        guard let first = value.first, first != "[", first != "{",
            !value.starts(with: "/*".unicodeScalars), !value.starts(with: "//".unicodeScalars)
        else { return text.count }
        var end = start
        // A string may go on behind a quote in it, which is doubled, and three quotes may be one.
        while first == "\"" || first == "'", end < text.count, text[end] == first {
            guard let close = reader.body.closingQuote(from: end) else { return text.count }
            end = close + 1
        }
        if end > start, isSign(start, for: place) { return end }
        return self.end(place, from: end) { "&,;}])<\"'".unicodeScalars.contains($0) || $0.isLineBreak }
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
