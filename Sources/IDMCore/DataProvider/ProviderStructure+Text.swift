extension ProviderStructure: CustomStringConvertible {
    /// The structure as a tree with one line for each provider.
    ///
    /// ```text
    /// sequence
    /// ├─ SignInProvider
    /// └─ group
    ///    ├─ ProfileProvider
    ///    └─ retry, at most 2 times
    ///       └─ FriendsProvider
    /// ```
    public var description: String {
        var lines: [String] = []
        write("", "", "", to: &lines)
        return lines.joined(separator: "\n")
    }

    /// - Parameters:
    ///   - margin: The text before this structure's own line.
    ///   - indent: The text before the lines of its parts.
    ///   - condition: The condition under which it runs, or an empty text.
    private func write(_ margin: String, _ indent: String, _ condition: String, to lines: inout [String]) {
        let line = (condition.isEmpty ? "" : "\(condition): ") + title
        lines.append(margin + String(line.map { $0.isNewline ? " " : $0 }))
        let parts = parts
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            part.structure.write(
                indent + (isLast ? "└─ " : "├─ "), indent + (isLast ? "   " : "│  "), part.condition, to: &lines)
        }
    }

    private var title: String {
        switch kind {
        case .provider(let name), .group(let name, _), .wrapper(let name, _): name
        case .branches(let name, _), .graph(let name, _): name
        case .sequence: "sequence"
        }
    }

    private var parts: [Branch] {
        switch kind {
        case .provider: []
        case .sequence(let parts), .group(_, let parts): parts.map { Branch(condition: "", structure: $0) }
        case .wrapper(_, let base): [Branch(condition: "", structure: base)]
        case .branches(_, let branches): branches
        case .graph(_, let nodes):
            nodes.map { node in
                let others = node.dependencies.map { nodes[$0].name }.joined(separator: " and ")
                let condition = others.isEmpty ? node.name : "\(node.name), after \(others)"
                return Branch(condition: condition, structure: node.structure)
            }
        }
    }
}
