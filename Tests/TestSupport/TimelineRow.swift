/// A row of a picture: the symbols of each tick.
struct TimelineRow: Equatable {
    /// The symbols that a row may contain.
    enum Notation {
        case calls, source, heardOfCalls, heardOfSource
    }

    /// The ticks that aren't empty.
    let ticks: [Int: [String]]

    init(ticks: [Int: [String]]) {
        self.ticks = ticks
    }

    /// The number of ticks, without the empty ones at the end.
    var length: Int { (ticks.keys.max() ?? -1) + 1 }

    /// Reads a picture.
    init(_ picture: String, _ notation: Notation) throws(TimelineFault) {
        var reader = TimelineReader(notation)
        for character in picture where !character.isWhitespace || reader.isInBrackets {
            guard reader.take(character) else { throw TimelineFault(picture, reader.symbol) }
        }
        if let open = reader.open { throw TimelineFault(picture, open) }
        if notation == .calls { try Self.checkCalls(reader.ticks, picture) }
        self.init(ticks: Dictionary(uniqueKeysWithValues: reader.ticks.enumerated().filter { !$0.element.isEmpty }))
    }

    /// Checks that each call is made once, and cancelled only after that.
    private static func checkCalls(_ ticks: [[String]], _ picture: String) throws(TimelineFault) {
        var made: Set<String> = []
        for symbol in ticks.joined() {
            let isCancel = symbol.hasPrefix("~")
            guard isCancel ? made.contains(String(symbol.dropFirst())) : made.insert(symbol).inserted else {
                throw TimelineFault(picture, symbol)
            }
        }
    }

    /// Writes a value: in brackets, unless it is one character without another meaning.
    static func written(_ value: String) -> String {
        value.count == 1 && !value.allSatisfy { $0.isWhitespace || "-()[]|!~".contains($0) } ? value : "[\(value)]"
    }

    // MARK: Differences

    /// Writes three rows under one another, with a mark under the first tick that differs.
    static func difference(in input: TimelineRow, expected: TimelineRow, heard: TimelineRow) -> String {
        let rows = [input, expected, heard]
        let ticks = Set(rows.flatMap(\.ticks.keys)).sorted()
        let pauses = ticks.prefix(1) + zip(ticks, ticks.dropFirst()).map { $1 - $0 - 1 }
        let first = ticks.first { expected.cell($0) != heard.cell($0) } ?? 0
        var (lines, offset) = (rows.map { _ in "" }, 0)
        for (tick, pause) in zip(ticks, pauses) {
            let dashes = dashes(pause)
            if tick == first { offset = lines[0].count + dashes.count }
            let cells = rows.map { $0.cell(tick) }
            let width = cells.map(\.count).max() ?? 1
            for (row, cell) in cells.enumerated() {
                lines[row] += dashes + cell + String(repeating: " ", count: width - cell.count)
            }
        }
        return """
            The timelines differ in tick \(first): expected \(expected.cell(first)), and \(heard.cell(first)) came.
              in        \(lines[0])
              expected  \(lines[1])
              heard     \(lines[2])
                        \(String(repeating: " ", count: offset))^
            """
    }

    private func cell(_ tick: Int) -> String {
        guard let symbols = ticks[tick] else { return "-" }
        let words = symbols.map(Self.escaped)
        return words.count == 1 ? words[0] : "(\(words.joined()))"
    }

    /// Escapes a symbol as in a string literal.
    private static func escaped(_ symbol: String) -> String {
        symbol.unicodeScalars.reduce(into: "") { words, scalar in
            switch scalar {
            case "\n": words += "\\n"
            case "\r": words += "\\r"
            case "\t": words += "\\t"
            case "\\": words += "\\\\"
            case _ where Character(scalar).isNewline: words += "\\u{\(String(scalar.value, radix: 16))}"
            default: words.unicodeScalars.append(scalar)
            }
        }
    }

    /// Writes a number of empty ticks, a large number abbreviated.
    private static func dashes(_ count: Int) -> String {
        count > 40 ? "-…×\(count - 2)…-" : String(repeating: "-", count: count)
    }
}

/// A symbol that isn't allowed in a picture.
struct TimelineFault: Error {
    let message: String

    init(_ picture: String, _ symbol: String) {
        message = "The picture “\(picture)” has a “\(symbol)” where none can be."
    }
}

/// Reads a row, character by character.
private struct TimelineReader {
    private let notation: TimelineRow.Notation
    private(set) var ticks: [[String]] = []
    private var group: [String]?
    /// The part of a symbol that has been read, also if it isn't allowed here.
    private(set) var symbol = ""
    /// The number of open brackets in the symbol.
    private var depth = 0

    init(_ notation: TimelineRow.Notation) {
        self.notation = notation
    }

    var isInBrackets: Bool { depth > 0 }

    /// The symbol or parenthesis that isn't closed.
    var open: String? { symbol.isEmpty ? group.map { _ in "(" } : symbol }

    /// Takes a character. Returns false if it isn't allowed here.
    mutating func take(_ character: Character) -> Bool {
        if isInBrackets {
            symbol.append(character)
            depth += character == "[" ? 1 : character == "]" ? -1 : 0
            return isInBrackets || end()
        }
        switch character {
        case "(" where symbol.isEmpty && group == nil: group = []
        case ")" where symbol.isEmpty && group != nil:
            ticks.append(group ?? [])
            group = nil
        case "-" where symbol.isEmpty && group == nil: ticks.append([])
        case "(", ")", "-", "]":
            symbol.append(character)
            return false
        default: return take(symbolPart: character)
        }
        return true
    }

    private mutating func take(symbolPart character: Character) -> Bool {
        symbol.append(character)
        // ASCII only: other letters may have combining marks.
        let (isCall, isHeard) = (character.isASCII && character.isLowercase, character.isASCII && character.isUppercase)
        switch notation {
        case .calls:
            return isCall ? end() : symbol == "~"
        case .heardOfCalls:
            return isCall || (symbol.count == 1 && isHeard) ? end() : ["~", "?", "!"].contains(symbol)
        case .source where symbol == "~": return false
        case .source, .heardOfSource:
            guard character == "[" else { return end() }
            depth = 1
            return true
        }
    }

    /// Ends the symbol. Brackets that a value doesn't need are removed.
    private mutating func end() -> Bool {
        if symbol.hasPrefix("[") { symbol = TimelineRow.written(String(symbol.dropFirst().dropLast())) }
        if group == nil { ticks.append([symbol]) } else { group?.append(symbol) }
        symbol = ""
        return true
    }
}
