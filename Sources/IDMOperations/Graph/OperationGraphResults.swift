public import IDMCore

/// What came of the nodes of a graph.
public struct OperationGraphResults: Sendable {
    /// What came of one node. Nil stands for one that was not asked, because another one before it has not succeeded or
    /// because the run was stopped.
    typealias Outcome = IntegrationOutcome<any Sendable>

    private let nodes: [any OperationGraphNode]
    private var outcomes: [Outcome?]

    init(nodes: [any OperationGraphNode]) {
        self.nodes = nodes
        outcomes = Array(repeating: nil, count: nodes.count)
    }

    /// The value of a node. Nil if it has not succeeded, or is a node of another graph.
    public subscript<Output>(node: OperationNode<Output>) -> Output? {
        outcome(of: node)?.value
    }

    /// What came of a node. Nil if it was skipped, hasn't ended, or is a node of another graph.
    public func outcome<Output>(of node: OperationNode<Output>) -> IntegrationOutcome<Output>? {
        let index = node.key.index
        guard nodes.indices.contains(index), nodes[index].key == node.key else { return nil }
        switch outcomes[index] {
        case .success(let value): return (value as? Output).map { .success($0) }
        case .failure(let error): return .failure(error)
        case .cancelled(let reason): return .cancelled(reason)
        case nil: return nil
        }
    }

    /// The names of the nodes that were not asked, in the order in which they were added: of a run that is still under
    /// way, of those that haven't ended.
    public var skipped: [String] {
        nodes.indices.filter { outcomes[$0] == nil }.map { nodes[$0].name }
    }

    /// Whether every node has succeeded.
    public var isComplete: Bool {
        outcomes.allSatisfy { if case .success = $0 { true } else { false } }
    }

    mutating func set(_ outcome: Outcome?, at index: Int) {
        outcomes[index] = outcome
    }
}

/// Where a node finds the values of those that it depends on.
protocol GraphValues: Sendable {
    func value<Output>(of node: OperationNode<Output>) throws -> Output
}
