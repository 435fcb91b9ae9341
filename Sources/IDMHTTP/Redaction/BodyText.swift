/// The text of a body as it reads: what is escaped in it, by whatever is in use for that, is one scalar.
///
/// A body in a body has its signs escaped: `%22token%22%3A`, `&quot;token&quot;:`, `a\u003d1\u0026token\u003d`. What
/// ends a value is escaped no deeper than what began it, so it is known of each scalar whether it is written as itself.
struct BodyText {
    /// As it was written.
    let source: [Unicode.Scalar]
    /// As it reads.
    private(set) var scalars: [Unicode.Scalar]
    /// Where each scalar is written, and where the last one ends.
    private var places: [Int]

    init(_ text: String) {
        source = Array(text.unicodeScalars)
        scalars = source
        places = Array(0...source.count)
        for _ in 0..<Self.deepest { guard readEscapes() else { break } }
    }

    /// Reads what is escaped once. Returns whether something was.
    private mutating func readEscapes() -> Bool {
        var (read, written): ([Unicode.Scalar], [Int]) = ([], [])
        var index = 0
        while index < scalars.count {
            let (scalar, length) = Self.escape(in: scalars[index...]) ?? (scalars[index], 1)
            read.append(scalar)
            written.append(places[index])
            index += length
        }
        guard read.count < scalars.count else { return false }
        scalars = read
        places = written + [source.count]
        return true
    }

    /// Where something is written that stands at a place of the scalars.
    func place(of index: Int) -> Int { places[index] }

    func isEscaped(_ index: Int) -> Bool { places[index + 1] - places[index] > 1 }

    /// The quote that ends the string that begins here.
    func closingQuote(from start: Int) -> Int? {
        let isDeep = isEscaped(start)
        var index = start + 1
        while index < scalars.count {
            if scalars[index] == scalars[start], isEscaped(index) == isDeep { return index }
            index += scalars[index] == "\\" && (isDeep || !isEscaped(index)) ? 2 : 1
        }
        return nil
    }

    // MARK: Escapes

    /// What an escape says that stands here, and how long it is.
    private static func escape(in text: ArraySlice<Unicode.Scalar>) -> (Unicode.Scalar, length: Int)? {
        switch text.first {
        case "\\": backslash(in: text)
        case "%": percent(in: text)
        case "&": entity(in: text)
        default: nil
        }
    }

    /// A line break, a tab or a number, also where the backslash is escaped in its turn. A quote isn't among them: how
    /// often it is escaped says which one closes it.
    private static func backslash(in text: ArraySlice<Unicode.Scalar>) -> (Unicode.Scalar, length: Int)? {
        let letter = text.prefix(longestRun).firstIndex { $0 != "\\" } ?? text.endIndex
        let length = letter - text.startIndex + 1
        guard letter < text.endIndex else { return nil }
        switch text[letter] {
        case "n": return ("\n", length)
        case "r": return ("\r", length)
        case "t": return ("\t", length)
        case "u": return sign(text[(letter + 1)...], digits: 4).map { ($0, length + 4) }
        default: return nil
        }
    }

    private static func percent(in text: ArraySlice<Unicode.Scalar>) -> (Unicode.Scalar, length: Int)? {
        sign(text.dropFirst(), digits: 2).map { ($0, 3) }
    }

    /// A quote or a bracket, as HTML escapes them. `&amp;` is none: it separates as `&` does.
    private static func entity(in text: ArraySlice<Unicode.Scalar>) -> (Unicode.Scalar, length: Int)? {
        let entities: [(String, Unicode.Scalar)] = [
            ("&quot;", "\""), ("&#34;", "\""), ("&#x22;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#x27;", "'"),
            ("&lt;", "<"), ("&gt;", ">"),
        ]
        return entities.first { text.starts(with: $0.0.unicodeScalars) }.map { ($0.1, $0.0.unicodeScalars.count) }
    }

    /// A visible sign of ASCII with a number of hexadecimal digits.
    private static func sign(_ text: ArraySlice<Unicode.Scalar>, digits: Int) -> Unicode.Scalar? {
        let digits = text.prefix(digits).count == digits ? text.prefix(digits) : []
        guard digits.allSatisfy({ $0.properties.isASCIIHexDigit }),
            let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
            (0x20..<0x7F).contains(value)
        else { return nil }
        return Unicode.Scalar(value)
    }

    /// How often a body may stand in another one and be read.
    private static let deepest = 3
    /// How many backslashes are looked at together: a body may hold nothing else.
    private static let longestRun = 16
}
