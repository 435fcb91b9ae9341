/// A description of the parts that a provider is made of, to be printed or drawn.
///
/// ```swift
/// print(screen.structure)  // a tree, in text
/// print(screen.structure.mermaid)  // a flow chart, for whatever shows Mermaid
/// ```
///
/// The compositions of this package include the structures of their parts. A provider of your own has the name of its
/// type; if it wraps others, implement ``DataProvider/structure``:
///
/// ```swift
/// struct LoggedProvider<Base: DataProvider>: DataProvider {
///     let base: Base
///
///     func request(_ input: Base.Input) async throws -> Base.Output { try await base.request(input) }
///
///     var structure: ProviderStructure { .wrapping(base.structure, in: "logged") }
/// }
/// ```
public struct ProviderStructure: Sendable, Hashable {
    indirect enum Kind: Sendable, Hashable {
        case provider(String)
        case sequence([ProviderStructure])
        case group(String, [ProviderStructure])
        case wrapper(String, ProviderStructure)
        case branches(String, [Branch])
        case graph(String, [Node])
    }

    struct Branch: Sendable, Hashable {
        let condition: String
        let structure: ProviderStructure
    }

    /// A node of a graph, which starts once its dependencies have answered.
    package struct Node: Sendable, Hashable {
        let name: String
        let structure: ProviderStructure
        /// The indices of the nodes that this one waits for.
        let dependencies: [Int]

        package init(_ name: String, _ structure: ProviderStructure, after dependencies: [Int]) {
            self.name = name
            self.structure = structure
            self.dependencies = dependencies
        }
    }

    let kind: Kind

    /// A provider without parts.
    public static func provider(_ name: String) -> ProviderStructure {
        ProviderStructure(kind: .provider(name))
    }

    /// Providers that run one after another. Nested sequences are flattened.
    public static func sequence(_ stages: [ProviderStructure]) -> ProviderStructure {
        let stages = stages.flatMap { stage in
            if case .sequence(let inner) = stage.kind { inner } else { [stage] }
        }
        return stages.count == 1 ? stages[0] : ProviderStructure(kind: .sequence(stages))
    }

    /// Providers that run at the same time.
    public static func group(_ members: [ProviderStructure], named name: String = "group") -> ProviderStructure {
        ProviderStructure(kind: .group(name, members))
    }

    /// A provider with a modifier around it.
    public static func wrapping(_ base: ProviderStructure, in name: String) -> ProviderStructure {
        ProviderStructure(kind: .wrapper(name, base))
    }

    /// Providers that run under conditions, each with the name of its condition.
    public static func branches(
        _ name: String, _ branches: KeyValuePairs<String, ProviderStructure>
    ) -> ProviderStructure {
        ProviderStructure(
            kind: .branches(name, branches.map { Branch(condition: $0.key, structure: $0.value) }))
    }

    /// Providers with dependencies among them.
    package static func graph(_ nodes: [Node], named name: String = "graph") -> ProviderStructure {
        ProviderStructure(kind: .graph(name, nodes))
    }
}

extension DataProvider {
    /// The name of the provider's type.
    public var structure: ProviderStructure { .provider(String(describing: Self.self)) }
}
