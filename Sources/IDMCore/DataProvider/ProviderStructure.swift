/// How a provider is put together, to be looked at rather than read.
///
/// ```swift
/// print(screen.structure)  // a tree, in text
/// print(screen.structure.mermaid)  // a flow chart, for whatever shows Mermaid
/// ```
///
/// Every provider of this package that is made of others shows them. A provider of your own is shown by the name of its
/// type; one that is made of others says so by giving its own ``DataProvider/structure``:
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

    /// A part of a graph, asked once those that it waits for have answered.
    package struct Node: Sendable, Hashable {
        let name: String
        let structure: ProviderStructure
        /// Where those that it waits for stand among the nodes.
        let dependencies: [Int]

        package init(_ name: String, _ structure: ProviderStructure, after dependencies: [Int]) {
            self.name = name
            self.structure = structure
            self.dependencies = dependencies
        }
    }

    let kind: Kind

    /// A provider that is made of nothing else.
    public static func provider(_ name: String) -> ProviderStructure {
        ProviderStructure(kind: .provider(name))
    }

    /// Providers one after the other. Sequences among them are shown flat.
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

    /// A provider with something around it that says when, how often, or with what it is asked.
    public static func wrapping(_ base: ProviderStructure, in name: String) -> ProviderStructure {
        ProviderStructure(kind: .wrapper(name, base))
    }

    /// Providers of which some are asked, each under a condition that is named.
    public static func branches(
        _ name: String, _ branches: KeyValuePairs<String, ProviderStructure>
    ) -> ProviderStructure {
        ProviderStructure(
            kind: .branches(name, branches.map { Branch(condition: $0.key, structure: $0.value) }))
    }

    /// Providers that wait for one another.
    package static func graph(_ nodes: [Node], named name: String = "graph") -> ProviderStructure {
        ProviderStructure(kind: .graph(name, nodes))
    }
}

extension DataProvider {
    /// The provider, by the name of its type.
    public var structure: ProviderStructure { .provider(String(describing: Self.self)) }
}
