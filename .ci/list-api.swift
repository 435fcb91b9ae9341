// Lists the public declarations of modules as text: a line for each declaration, in an order that depends on names alone.
//
//   swiftc .ci/list-api.swift -o list
//   ./list <folder with symbol graphs> <folder with API digests> <module> …
//
// The symbol graphs have the declarations as they are written. They leave out names that begin with an underscore, and
// show an observable property with a setter also where the setter is private. The digests
// (`swift-api-digester -dump-sdk`) have both.
import Foundation

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct ID: Decodable { let precise: String }
        struct Fragment: Decodable { let spelling: String }
        struct Constraint: Decodable, Hashable { let kind: String, lhs: String, rhs: String }
        struct Constraints: Decodable { let constraints: [Constraint]? }
        struct Availability: Decodable { let isUnconditionallyDeprecated: Bool? }

        let identifier: ID
        let pathComponents: [String]
        let declarationFragments: [Fragment]?
        let swiftExtension: Constraints?
        let swiftGenerics: Constraints?
        let availability: [Availability]?
    }

    struct Relationship: Decodable {
        let kind: String, source: String, target: String, targetFallback: String?
    }

    let symbols: [Symbol]
    let relationships: [Relationship]
}

/// A declaration in an API digest.
struct Digest: Decodable {
    struct Accessor: Decodable { let accessorKind: String? }
    struct Root: Decodable { let ABIRoot: Digest }

    let printedName: String
    let declKind: String?
    let usr: String?
    let isStatic: Bool?
    let genericSig: String?
    let accessors: [Accessor]?
    let children: [Digest]?

    enum CodingKeys: String, CodingKey {
        case printedName, declKind, usr, genericSig, accessors, children
        case isStatic = "static"
    }

    var hasSetter: Bool { accessors?.contains { $0.accessorKind == "set" || $0.accessorKind == "_modify" } ?? true }

    /// The declaration in one line. Its types are the nodes without a kind: the result, and then the parameters.
    var declaration: String {
        let types = (children ?? []).filter { $0.declKind == nil }.map(\.printedName)
        let words = [
            "Func": "func", "Constructor": "init", "Var": "var", "Subscript": "subscript", "Struct": "struct",
            "Enum": "enum", "Class": "class", "Protocol": "protocol", "TypeAlias": "typealias",
            "AssociatedType": "associatedtype", "EnumElement": "case",
        ]
        let keyword = (isStatic == true ? "static " : "") + (words[declKind ?? ""] ?? declKind ?? "")
        let signature = genericSig.map { "  [generic \($0)]" } ?? ""
        switch declKind {
        case "Func", "Subscript":
            let parameters = types.dropFirst().joined(separator: ", ")
            return "\(keyword) \(printedName): (\(parameters)) -> \(types.first ?? "")\(signature)"
        case "Constructor":
            return "\(printedName): (\(types.dropFirst().joined(separator: ", ")))\(signature)"
        case "Var": return "\(keyword) \(printedName): \(types.first ?? "") { \(hasSetter ? "get set" : "get") }"
        case "TypeAlias": return "\(keyword) \(printedName) = \(types.first ?? "")"
        default: return "\(keyword) \(printedName)\(signature)"
        }
    }

    /// The declarations whose name begins with an underscore, and all that is inside them. Names with two underscores are
    /// the compiler's own.
    func underscored(_ path: [String] = [], within: Bool = false) -> [(path: [String], line: String)] {
        (children ?? []).filter { $0.declKind != nil && $0.declKind != "Import" && $0.declKind != "Accessor" }
            .flatMap { child -> [(path: [String], line: String)] in
                guard !child.printedName.hasPrefix("__") else { return [] }
                let isListed = within || child.printedName.hasPrefix("_")
                let path = path + [child.printedName]
                return (isListed ? [(path, child.declaration)] : []) + child.underscored(path, within: isListed)
            }
    }

    var all: [Digest] { [self] + (children ?? []).flatMap(\.all) }
}

/// What the compiler adds to every type by itself.
let selfEvident: Set = ["Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"]

extension Graph.Symbol {
    /// The declaration in one line.
    var declaration: String {
        let isDeprecated = availability?.contains { $0.isUnconditionallyDeprecated == true } ?? false
        let text = (declarationFragments ?? []).map(\.spelling).joined()
        return (isDeprecated ? "@deprecated " : "")
            + text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The constraints of the extension in which it stands, without those that its type has anyway.
    func constraints(beyond others: [Constraint]) -> [String] {
        let signs = ["conformance": ":", "superclass": ":", "sameType": "=="]
        // A protocol's own members are all under its own name.
        return (swiftExtension?.constraints ?? [])
            .filter { !others.contains($0) && ($0.lhs != "Self" || $0.kind == "sameType") }
            .map { "\($0.lhs) \(signs[$0.kind] ?? $0.kind) \($0.rhs)" }
    }

    /// What is asked of parameters whose types have no names, where the declaration doesn't say.
    var unnamedConstraints: [String] {
        (swiftGenerics?.constraints ?? [])
            .filter { $0.kind == "sameType" }
            .map { "\($0.lhs) == \($0.rhs)" }
            .filter { $0.contains("(some ") && !$0.contains("<") }
    }
}

func names(of protocols: [Graph.Relationship], _ names: [String: String]) -> [String] {
    Set(protocols.map { names[$0.target] ?? $0.targetFallback ?? $0.target })
        .map { $0.split(separator: ".").count == 2 ? String($0.split(separator: ".")[1]) : $0 }
        .filter { !selfEvident.contains($0) }.sorted()
}

func listing(of module: String, in folder: URL, _ digests: URL) throws -> [String] {
    let digest = try JSONDecoder().decode(
        Digest.Root.self, from: Data(contentsOf: digests.appendingPathComponent("\(module).json"))
    ).ABIRoot
    let readOnly = Set(digest.all.filter { $0.declKind == "Var" && !$0.hasSetter }.compactMap(\.usr))
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .filter {
            $0.lastPathComponent == "\(module).symbols.json" || $0.lastPathComponent.hasPrefix("\(module)@")
        }
    let graphs = try files.map { try JSONDecoder().decode(Graph.self, from: Data(contentsOf: $0)) }
    let symbols = graphs.flatMap(\.symbols)
    let own = Dictionary(
        symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) }, uniquingKeysWith: { $1 })
    let types = Dictionary(symbols.map { ($0.pathComponents, $0) }, uniquingKeysWith: { first, _ in first })
    let relationships = graphs.flatMap(\.relationships)
    let defaults = Set(relationships.filter { $0.kind == "defaultImplementationOf" }.map(\.source))
    let conformances = Dictionary(
        grouping: relationships.filter { $0.kind == "conformsTo" || $0.kind == "inheritsFrom" }, by: \.source)
    var lines: [(path: [String], line: String)] = symbols.map { symbol in
        let isExtension = symbol.declaration.hasPrefix("extension ")
        let type = types[isExtension ? symbol.pathComponents : Array(symbol.pathComponents.dropLast())]
        let inherited = (isExtension ? type?.swiftExtension : type?.swiftGenerics)?.constraints ?? []
        let constraints = (symbol.constraints(beyond: inherited) + symbol.unnamedConstraints).joined(separator: ", ")
        let protocols = names(of: conformances[symbol.identifier.precise] ?? [], own).joined(separator: ", ")
        var declaration = symbol.declaration
        if readOnly.contains(symbol.identifier.precise) {
            declaration = declaration.replacingOccurrences(of: "{ get set }", with: "{ get }")
        }
        return (
            symbol.pathComponents,
            declaration + (defaults.contains(symbol.identifier.precise) ? "  [default]" : "")
                + (constraints.isEmpty ? "" : "  [where \(constraints)]")
                + (protocols.isEmpty ? "" : "  [is \(protocols)]")
        )
    }
    lines += digest.underscored()
    lines.sort { ($0.path.joined(separator: "\u{1}"), $0.line) < ($1.path.joined(separator: "\u{1}"), $1.line) }
    // A type of another module may be extended in more than one place.
    return lines.indices.filter { $0 == 0 || lines[$0] != lines[$0 - 1] || !lines[$0].line.hasPrefix("extension ") }
        .map { String(repeating: "    ", count: lines[$0].path.count - 1) + lines[$0].line }
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count > 2 else {
    print("usage: list <folder with symbol graphs> <folder with API digests> <module> …")
    exit(2)
}
let folders = arguments.prefix(2).map { URL(fileURLWithPath: $0) }
for (index, module) in arguments.dropFirst(2).enumerated() {
    print((index == 0 ? "" : "\n") + "# \(module)\n")
    print(try listing(of: module, in: folders[0], folders[1]).joined(separator: "\n"))
}
