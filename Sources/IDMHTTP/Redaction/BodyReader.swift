/// Reads the text of a body once, from its beginning to its end, whatever it is, and finds the places behind which
/// something may stand that a name makes secret.
///
/// Scalar by scalar: a sign is one also before a mark that is drawn on top of it.
struct BodyReader {
    /// A place, and what is known of what stands behind it.
    struct Clue {
        let place: Int
        let kind: Kind

        enum Kind {
            /// The value of `name: value`, `name=value` or `name => value`, and the line that begins with the name.
            case value(name: String, group: Int, isNamed: Bool, line: Line?)
            /// The content of `<name …>content</name>`, or of the element behind `<key>label</key>`.
            case content(name: String, label: String, group: Int)
            /// What comes next in a list, behind a string that is a name.
            case next(name: String)
            /// The body of a part whose header says its name, up to the next boundary, where one is known.
            case part(boundary: Range<Int>?)
            /// All lines behind one that holds nothing but names.
            case rows(names: [String])
        }
    }

    /// A line that begins with a name, as those of a header do, and of YAML.
    struct Line {
        /// How far the name stands from where the line begins, or the string that does instead.
        let indent: Int
        /// Where the string ends that the line is in, or else the text.
        let end: Int
    }

    /// What stands between two brackets, in a tag, or in a string: fields of a group belong together. The first group
    /// is the whole text.
    struct Group {
        fileprivate enum Kind { case whole, brackets, tag, string }
        fileprivate let kind: Kind
        /// Whether one of its fields says a secret name.
        fileprivate(set) var saysSecret = false
        /// Whether one of its fields says any name.
        fileprivate(set) var saysName = false
        /// Whether one of its fields says a name of which the rest is cut off.
        fileprivate(set) var saysCutName = false
        /// Whether a group around it had said a secret name before it began.
        fileprivate(set) var isInSecret = false
        /// Whether one of its fields holds what another one names.
        fileprivate(set) var holdsValue = false
        /// Whether the text ends before it does.
        fileprivate(set) var isCut = true
    }

    let body: BodyText
    private let text: [Unicode.Scalar]
    private(set) var clues: [Clue] = []
    private(set) var groups: [Group]

    private let redaction: ServiceRedaction
    /// The groups that are open, from the outermost one on.
    private var open = [0]
    /// Where the string ends that is open, and how many groups are around it.
    private var string: (end: Int, depth: Int)?
    /// Quotes that nobody closes from here on.
    private var unclosed: Set<Unicode.Scalar> = []
    /// The tag that is open, and how many groups are around it.
    private var tag: (name: String, group: Int, depth: Int)?
    /// What `<key>` has said of the next element.
    private var label = ""
    /// Up to where a name can't reach back.
    private var nameFloor = 0
    private var itemFloor = 0
    private var lineStart = 0
    /// Where a name begins its line, or its string. Nil behind one.
    private var fieldStart: Int? = 0
    /// Whether all lines so far are empty.
    private var isFirstLine = true
    private var boundary: Range<Int>?
    private var isSecretPart = false
    /// The last scalar that isn't a space, or a line break.
    private var last: Unicode.Scalar = "\n"

    /// Of what a field says, more isn't read: a field that says all that follows would be read again and again.
    private static let longestName = 64

    /// - Parameter isCut: Whether there is more of the body than this.
    init(_ text: String, redaction: ServiceRedaction, isCut: Bool) {
        body = BodyText(text)
        self.text = body.scalars
        self.redaction = redaction
        groups = [Group(kind: .whole)]
        var index = 0
        while index < self.text.count { index = read(index) }
        if !isCut { groups[0].isCut = false }
    }

    /// Reads what stands at a place, and returns the next one.
    private mutating func read(_ index: Int) -> Int {
        let scalar = text[index]
        let lineBreak = text.lineBreak(at: index)
        if lineBreak > 0 {
            endLine(at: index, next: index + lineBreak)
            last = "\n"
            return index + lineBreak
        }
        switch scalar {
        case "\"", "'": quote(at: index)
        case "{", "[": push(.brackets)
        case "}", "]": closeBrackets()
        case "<": beginTag(at: index)
        case ">": endTag(at: index)
        case ":", "=": readField(at: index)
        case ",": readItem(at: index)
        default: break
        }
        if !scalar.isSpace { last = scalar }
        return index + 1
    }

    // MARK: Groups

    private var group: Int { open.last ?? 0 }

    private mutating func push(_ kind: Group.Kind) {
        var new = Group(kind: kind)
        new.isInSecret = groups[group].saysSecret || groups[group].isInSecret
        open.append(groups.count)
        groups.append(new)
    }

    /// Ends the groups that are open beyond a depth.
    private mutating func close(to depth: Int) {
        while open.count > depth {
            groups[open.removeLast()].isCut = false
        }
    }

    private mutating func closeBrackets() {
        // A tag that is open in brackets was none.
        while groups[group].kind == .tag { open.removeLast() }
        if groups[group].kind == .brackets { close(to: open.count - 1) }
    }

    /// A quote begins a string where one may stand, and is a sign like others elsewhere: `5"`, `don't`.
    private mutating func quote(at index: Int) {
        if let string {
            guard index == string.end else { return }
            close(to: string.depth)
            self.string = nil
            fieldStart = nil
        } else if "{[(,:=&;<>\n".unicodeScalars.contains(last) {
            fieldStart = index + 1
            guard let end = closing(of: index) else { return }
            string = (end, open.count)
            push(.string)
        }
    }

    private mutating func closing(of index: Int) -> Int? {
        let quote = text[index]
        guard !unclosed.contains(quote) else { return nil }
        if let end = body.closingQuote(from: index) { return end }
        unclosed.insert(quote)
        return nil
    }

    // MARK: Tags

    private mutating func beginTag(at index: Int) {
        let name = text[(index + 1)...].prefix { $0.isPartOfName || $0 == ":" }
        guard !name.isEmpty || text.indices.contains(index + 1) && text[index + 1] == "/" else { return }
        let depth = open.count
        push(.tag)
        tag = ((name.split(separator: ":").last ?? name).string, group, depth)
    }

    private mutating func endTag(at index: Int) {
        nameFloor = index + 1
        guard let tag else { return }
        // In a string of a tag it may be a sign like others, or else that isn't one.
        if string.map({ $0.depth <= tag.depth }) != false {
            self.tag = nil
            if open.count > tag.depth, open[tag.depth] == tag.group { close(to: tag.depth) }
        }
        // Some elements never have a content, and others say that they have none.
        guard !tag.name.isEmpty, last != "/", !["input", "meta"].contains(tag.name.lowercased()) else { return }
        // Of a property list `key` has the name of what comes next.
        let isLabel = tag.name == "key" || tag.name.lowercased() == "name"
        add(.content(name: isLabel ? "" : tag.name, label: label, group: tag.group), behind: index)
        guard isLabel else { return label = "" }
        let word = text[(index + 1)...].drop(while: \.isSpace).prefix(Self.longestName).prefix { $0.isPartOfName }
        label = text[word.endIndex...].first { !$0.isSpace } ?? "<" == "<" ? word.string : ""
    }

    // MARK: Names and lines

    private mutating func add(_ kind: Clue.Kind, behind index: Int) {
        clues.append(Clue(place: index + 1, kind: kind))
    }

    private mutating func readField(at index: Int) {
        let isForm = text[index] == "="
        let floor = nameFloor
        nameFloor = index + 1
        let found = text.name(before: index, from: floor, isForm: isForm)
        guard !found.isEmpty else { return }
        let name = found.string
        let sign = isForm && index + 1 < text.count && text[index + 1] == ">" ? index + 1 : index
        let isNamed = groups[group].saysName || groups[group].isInSecret
        if ServiceRedaction.isLabel(name) {
            let words = text.words(from: sign + 1, longest: Self.longestName)
            let isSecret = words.contains { redaction.isSecret($0.string) }
            let isName = ServiceRedaction.isName(name)
            groups[group].saysName = groups[group].saysName || isName
            groups[group].saysSecret = groups[group].saysSecret || isSecret
            groups[group].saysCutName = groups[group].saysCutName || words.last?.endIndex == text.count
            if isForm, isName, tag == nil, isSecret { isSecretPart = true }
        } else if ServiceRedaction.isContent(name) {
            groups[group].holdsValue = true
        }
        let line = isForm ? nil : line(of: found.startIndex, from: floor)
        add(.value(name: name, group: group, isNamed: isNamed, line: line), behind: sign)
    }

    /// The line that a name begins, perhaps as an item of a list.
    private func line(of name: Int, from floor: Int) -> Line? {
        guard let fieldStart, fieldStart >= floor, fieldStart <= name,
            text[fieldStart..<name].allSatisfy({ $0.isSpace || $0 == "-" })
        else { return nil }
        return Line(indent: name - fieldStart, end: string?.end ?? text.count)
    }

    private mutating func readItem(at index: Int) {
        let name = text.quotedName(before: index, from: max(nameFloor, itemFloor))
        itemFloor = index + 1
        guard !name.isEmpty, !text.isField(at: index + 1) else { return }
        add(.next(name: name.string), behind: index)
    }

    private mutating func endLine(at index: Int, next: Int) {
        let line = text[lineStart..<index].trimmed
        lineStart = next
        fieldStart = next
        if line.isEmpty {
            if isSecretPart { add(.part(boundary: boundary), behind: next - 1) }
            isSecretPart = false
            return
        }
        if line.starts(with: "--".unicodeScalars) { boundary = line.indices }
        if let names = line.cells(isAlone: isFirstLine) { add(.rows(names: names), behind: next - 1) }
        isFirstLine = false
    }
}

extension [Unicode.Scalar] {
    /// How many scalars a line break has that stands here.
    fileprivate func lineBreak(at index: Int) -> Int {
        guard self[index].isLineBreak else { return 0 }
        return self[index] == "\r" && index + 1 < count && self[index + 1] == "\n" ? 2 : 1
    }

    /// Where something stands behind spaces, and behind what escapes a quote.
    ///
    /// - Parameter quotes: Whether quotes are skipped, too.
    func skippingSpaces(from start: Int, quotes: Bool = false) -> Int {
        self[start...].firstIndex { !$0.isSpace && $0 != "\\" && !(quotes && $0.isQuote) } ?? count
    }

    /// The name before a sign.
    ///
    /// - Parameter isForm: Whether it is one of a form, which may have parts: `user[pin]`.
    fileprivate func name(before sign: Int, from floor: Int, isForm: Bool) -> ArraySlice<Unicode.Scalar> {
        let name = self[floor..<sign].droppingLast { $0.isSpace || $0.isQuote || $0.properties.isGraphemeExtend }
        return name.suffix { $0.isPartOfName || isForm && $0.isBetweenParts }
    }

    /// The string before a comma, if it is a name.
    fileprivate func quotedName(before comma: Int, from floor: Int) -> ArraySlice<Unicode.Scalar> {
        let string = self[Swift.min(floor, comma)..<comma].droppingLast(while: \.isSpace)
        let name = string.droppingLast(while: \.isQuote).suffix { $0.isPartOfName || $0.isBetweenParts }
        let isQuoted = name.endIndex < string.endIndex && name.startIndex > string.startIndex
        return isQuoted && self[name.startIndex - 1].isQuote ? name : []
    }

    /// Where a string begins behind spaces, and behind the letters that some have before their quote: `b'…'`, `rb"…"`.
    func skippingToValue(from start: Int) -> Int {
        let place = skippingSpaces(from: start)
        let letters = self[place...].prefix(2).prefix { "bBfFrRuU".unicodeScalars.contains($0) }
        let quote = self[letters.endIndex...].first { $0 != "\\" }
        return quote == "\"" || quote == "'" ? skippingSpaces(from: letters.endIndex) : place
    }

    /// What a value says: a word, or each of a list.
    fileprivate func words(from start: Int, longest: Int) -> [ArraySlice<Unicode.Scalar>] {
        let place = skippingSpaces(from: start)
        guard place < count, "[(".unicodeScalars.contains(self[place]) else {
            return [word(from: start, longest: longest)]
        }
        let list = self[(place + 1)...].prefix(longest).prefix { !"])}".unicodeScalars.contains($0) }
        return list.split(separator: ",", omittingEmptySubsequences: false)
            .map { word(from: $0.startIndex, longest: $0.count) }
    }

    /// What a value says, without its quotes.
    private func word(from start: Int, longest: Int) -> ArraySlice<Unicode.Scalar> {
        let word = self[skippingSpaces(from: skippingToValue(from: start), quotes: true)...].prefix(longest)
        return word.prefix { !"\"'\\,;&<>{}".unicodeScalars.contains($0) && !$0.isLineBreak }
    }

    /// Whether a name and its sign stand here, and not a value.
    fileprivate func isField(at start: Int) -> Bool {
        let name = self[skippingSpaces(from: start, quotes: true)...]
        let end = name.firstIndex { !$0.isPartOfName && !$0.isBetweenParts } ?? count
        let sign = skippingSpaces(from: end, quotes: true)
        return sign < count && (self[sign] == ":" || self[sign] == "=")
    }
}

extension ArraySlice<Unicode.Scalar> {
    fileprivate var string: String { String(String.UnicodeScalarView(self)) }

    fileprivate func droppingLast(while isDropped: (Unicode.Scalar) -> Bool) -> Self {
        self[..<(lastIndex { !isDropped($0) }.map { $0 + 1 } ?? startIndex)]
    }

    fileprivate func suffix(while isKept: (Unicode.Scalar) -> Bool) -> Self {
        self[(lastIndex { !isKept($0) }.map { $0 + 1 } ?? startIndex)...]
    }

    fileprivate var trimmed: Self { drop(while: \.isSpace).droppingLast(while: \.isSpace) }

    /// The names of columns, if the line holds nothing else: at least two, of few words each, or one that stands alone.
    fileprivate func cells(isAlone: Bool) -> [String]? {
        let cells = split(whereSeparator: \.isBetweenCells)
            .map { $0.drop { $0.isSpace || $0.isQuote }.droppingLast { $0.isSpace || $0.isQuote } }
            .filter { !$0.isEmpty }
        let words = cells.map { $0.split(whereSeparator: \.isSpace) }
        guard words.allSatisfy({ $0.count <= 3 && $0.joined().allSatisfy { $0.isPartOfName || $0.isBetweenParts } }),
            cells.count >= 2 || isAlone && words.first?.count == 1
        else { return nil }
        return cells.map(\.string)
    }
}

extension Unicode.Scalar {
    var isPartOfName: Bool {
        properties.isAlphabetic || properties.numericType != nil || self == "_" || self == "-"
    }
    /// What stands between the parts of a name.
    fileprivate var isBetweenParts: Bool { "[].".unicodeScalars.contains(self) }
    /// What stands between the cells of a table's row.
    var isBetweenCells: Bool { ",;\t|".unicodeScalars.contains(self) }
    /// Whether it is a quote, or what escapes one. So is a mark that stands before all text.
    var isQuote: Bool { "\"'\\\u{FEFF}".unicodeScalars.contains(self) }
    var isSpace: Bool { properties.isWhitespace }
    var isLineBreak: Bool { (10...13).contains(value) || [0x85, 0x2028, 0x2029].contains(value) }
}
