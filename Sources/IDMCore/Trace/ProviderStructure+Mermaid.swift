extension ProviderStructure {
    /// The structure as a flow chart in the language of Mermaid, which many editors and code hosts draw.
    ///
    /// Stages of a sequence are joined by arrows, a group forks and joins, and a modifier is a frame around its provider.
    public var mermaid: String {
        var chart = FlowChart()
        chart.draw(self, indent: "    ")
        return (["flowchart LR"] + chart.lines).joined(separator: "\n")
    }
}

/// Writes a flow chart, line by line.
private struct FlowChart {
    /// The nodes at which the flow enters and leaves a part of the chart.
    struct Ends {
        let entry: String
        let exit: String
    }

    private(set) var lines: [String] = []
    private var count = 0

    @discardableResult
    mutating func draw(_ structure: ProviderStructure, indent: String) -> Ends {
        switch structure.kind {
        case .provider(let name):
            let node = node("[", name, "]", indent)
            return Ends(entry: node, exit: node)
        case .sequence(let stages):
            let ends = stages.map { draw($0, indent: indent) }
            guard let first = ends.first, let last = ends.last else { return point(indent) }
            for (one, next) in zip(ends, ends.dropFirst()) { join(one.exit, next.entry, indent: indent) }
            return Ends(entry: first.entry, exit: last.exit)
        case .group(let name, let members):
            return fork(name, members.map { .init(condition: "", structure: $0) }, shape: ("((", "))"), indent)
        case .branches(let name, let branches):
            return fork(name, branches, shape: ("{", "}"), indent)
        case .wrapper(let name, let base): return frame(name, base, indent)
        case .graph(let name, let nodes): return web(name, nodes, indent)
        }
    }

    private mutating func frame(_ name: String, _ base: ProviderStructure, _ indent: String) -> Ends {
        lines.append("\(indent)subgraph \(newID())[\(name.quotedInMermaid)]")
        let ends = draw(base, indent: indent + "    ")
        lines.append("\(indent)end")
        return ends
    }

    private mutating func web(_ name: String, _ nodes: [ProviderStructure.Node], _ indent: String) -> Ends {
        let entry = node("((", name, "))", indent)
        let ends = nodes.map { frame($0.name, $0.structure, indent) }
        let exit = point(indent).exit
        if nodes.isEmpty { join(entry, exit, indent: indent) }
        let awaited = Set(nodes.flatMap(\.dependencies))
        for (index, node) in nodes.enumerated() {
            if node.dependencies.isEmpty { join(entry, ends[index].entry, indent: indent) }
            for other in node.dependencies { join(ends[other].exit, ends[index].entry, indent: indent) }
            if !awaited.contains(index) { join(ends[index].exit, exit, indent: indent) }
        }
        return Ends(entry: entry, exit: exit)
    }

    private mutating func fork(
        _ name: String, _ branches: [ProviderStructure.Branch], shape: (String, String), _ indent: String
    ) -> Ends {
        let entry = node(shape.0, name, shape.1, indent)
        let ends = branches.map { draw($0.structure, indent: indent) }
        let exit = point(indent).exit
        if branches.isEmpty { join(entry, exit, indent: indent) }
        for (branch, end) in zip(branches, ends) {
            join(entry, end.entry, branch.condition, indent: indent)
            join(end.exit, exit, indent: indent)
        }
        return Ends(entry: entry, exit: exit)
    }

    /// Adds a node without a name, where branches meet.
    private mutating func point(_ indent: String) -> Ends {
        let node = node("((", " ", "))", indent)
        return Ends(entry: node, exit: node)
    }

    private mutating func node(_ opening: String, _ name: String, _ closing: String, _ indent: String) -> String {
        let id = newID()
        lines.append("\(indent)\(id)\(opening)\(name.quotedInMermaid)\(closing)")
        return id
    }

    private mutating func join(_ one: String, _ other: String, _ label: String = "", indent: String) {
        lines.append("\(indent)\(one) -->\(label.isEmpty ? "" : "|\(label.quotedInMermaid)|") \(other)")
    }

    private mutating func newID() -> String {
        count += 1
        return "n\(count)"
    }
}

extension String {
    /// The text as it may stand between quotes in the language of Mermaid, which reads entities, tags, Markdown,
    /// comments and directives there, and takes no empty ones.
    package var quotedInMermaid: String {
        let line = isEmpty ? " " : String(map { $0.isNewline ? " " : $0 })
        // A quote with an accent is one character, and still ends the text.
        let escaped = line.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\"": escaped += "#quot;"
            case "#": escaped += "#35;"
            case "%": escaped += "#37;"
            case "&": escaped += "#amp;"
            case "<": escaped += "#lt;"
            case ">": escaped += "#gt;"
            case "`": escaped += "#96;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\"\(escaped)\""
    }
}
