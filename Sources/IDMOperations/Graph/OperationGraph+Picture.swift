/// The graph to look at.
extension OperationGraph {
    /// The graph in the language of Graphviz.
    public var dot: String {
        let nodes = nodes.enumerated().map { "    n\($0) [label=\"\(Self.escaped($1.node.name, quote: "\\\""))\"];" }
        return (["digraph {", "    rankdir=LR;"] + nodes + edges { "    n\($0) -> n\($1);" } + ["}"])
            .joined(separator: "\n")
    }

    /// The graph in the language of Mermaid.
    public var mermaid: String {
        let nodes = nodes.enumerated().map { "    n\($0)[\"\(Self.escaped($1.node.name, quote: "#quot;"))\"]" }
        return (["graph LR"] + nodes + edges { "    n\($0) --> n\($1)" }).joined(separator: "\n")
    }

    /// The graph as plain text: a line for each node, with those that it waits for.
    public var outline: String {
        let names = nodes.map(\.node.name)
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

    private static func escaped(_ name: String, quote: String) -> String {
        var escaped = ""
        for character in name {
            switch character {
            case "\"": escaped += quote
            case "\\": escaped += "\\\\"
            case _ where character.isNewline: escaped += " "
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
