public import IDMCore

/// The graph to look at.
extension OperationGraph {
    /// The graph with what its nodes are made of.
    public var structure: ProviderStructure {
        let name = "graph" + (width == .max ? "" : ", \(width) at a time") + (rule == .stop ? "" : ", carrying on")
        return .graph(
            zip(nodes, dependencies).map { .init($0.node.name, $0.provider.structure, after: $1) }, named: name)
    }

    /// The graph in the language of Graphviz.
    public var dot: String {
        let nodes = names.enumerated().map { "    n\($0) [label=\($1.quotedInDot)];" }
        return (["digraph {", "    rankdir=LR;"] + nodes + edges { "    n\($0) -> n\($1);" } + ["}"])
            .joined(separator: "\n")
    }

    /// The graph in the language of Mermaid.
    public var mermaid: String {
        let nodes = names.enumerated().map { "    n\($0)[\($1.quotedInMermaid)]" }
        return (["graph LR"] + nodes + edges { "    n\($0) --> n\($1)" }).joined(separator: "\n")
    }

    /// The graph as plain text: a line for each node, with those that it waits for.
    public var outline: String {
        let names = names
        let width = names.map(\.count).max() ?? 0
        return zip(names, dependencies).map { name, dependencies in
            guard !dependencies.isEmpty else { return name }
            let padding = String(repeating: " ", count: width - name.count)
            return name + padding + " ◀─ " + dependencies.map { names[$0] }.joined(separator: ", ")
        }
        .joined(separator: "\n")
    }

    private func edges(_ edge: (_ before: Int, _ node: Int) -> String) -> [String] {
        dependencies.enumerated().flatMap { node, before in before.map { edge($0, node) } }
    }

    /// The names, each in one line.
    private var names: [String] {
        nodes.map { String($0.node.name.map { $0.isNewline ? " " : $0 }) }
    }
}

extension String {
    /// The text between quotes, in the language of Graphviz.
    fileprivate var quotedInDot: String {
        // A quote with an accent is one character, and still ends the text.
        let escaped = unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar == "\"" || scalar == "\\" { escaped += "\\" }
            escaped.unicodeScalars.append(scalar)
        }
        return "\"\(escaped)\""
    }
}
