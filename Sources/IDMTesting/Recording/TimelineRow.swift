/// A row of a picture: what happens in each tick.
struct TimelineRow: Equatable {
    /// Without the empty ones at the end.
    let ticks: [[String]]
    /// What is wrong with the picture, if something is.
    let fault: String?

    static func == (left: TimelineRow, right: TimelineRow) -> Bool {
        left.ticks.map { $0.joined() } == right.ticks.map { $0.joined() }
    }

    init(ticks: [[String]], fault: String? = nil) {
        self.ticks = Array(ticks.prefix((ticks.lastIndex { !$0.isEmpty } ?? -1) + 1))
        self.fault = fault
    }

    /// Reads a picture.
    init(_ picture: String) {
        var ticks: [[String]] = []
        var group: [String]?
        var prefix = ""
        var fault: String?
        for character in picture where character != " " {
            switch character {
            case "(" where group == nil && prefix.isEmpty:
                group = []
            case ")" where group != nil && prefix.isEmpty:
                ticks.append(group ?? [])
                group = nil
            case "-" where group == nil && prefix.isEmpty:
                ticks.append([])
            case "~", "?":
                prefix.append(character)
            case "(", ")", "-":
                fault = fault ?? "The picture “\(picture)” has a “\(character)” where none can be."
            default:
                let symbol = prefix + String(character)
                prefix = ""
                // A failure stands before the letter of its call, and alone for a source.
                if character == "!" {
                    prefix = "!"
                } else if group == nil {
                    ticks.append([symbol])
                } else {
                    group?.append(symbol)
                }
            }
        }
        if group != nil { fault = fault ?? "The picture “\(picture)” has a “(” that isn't closed." }
        if !prefix.isEmpty { ticks.append([prefix]) }
        self.init(ticks: ticks, fault: fault)
    }

    // MARK: Differences

    /// Three rows under one another, with a mark under the first tick that differs.
    static func difference(in input: TimelineRow, expected: TimelineRow, heard: TimelineRow) -> String {
        let rows = [input, expected, heard]
        let count = rows.map(\.ticks.count).max() ?? 0
        let columns = (0..<count).map { tick in
            let cells = rows.map { $0.cell(tick) }
            let width = cells.map(\.count).max() ?? 1
            return cells.map { $0 + String(repeating: " ", count: width - $0.count) }
        }
        let first = (0..<count).first { expected.cell($0) != heard.cell($0) } ?? 0
        let offset = columns.prefix(first).reduce(0) { $0 + ($1.first?.count ?? 0) }
        let lines = rows.indices.map { row in columns.map { $0[row] }.joined() }
        return """
            The timelines differ in tick \(first): expected \(expected.cell(first)), and \(heard.cell(first)) came.
              in        \(lines[0])
              expected  \(lines[1])
              heard     \(lines[2])
                        \(String(repeating: " ", count: offset))^
            """
    }

    private func cell(_ tick: Int) -> String {
        guard tick < ticks.count, !ticks[tick].isEmpty else { return "-" }
        let symbols = ticks[tick].joined()
        return symbols.count == 1 ? symbols : "(\(symbols))"
    }
}
