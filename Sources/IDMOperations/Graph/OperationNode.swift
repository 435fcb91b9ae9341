/// A node of an ``OperationGraph``, by which its value is found in the results.
public struct OperationNode<Output: Sendable>: OperationGraphNode {
    /// What the node is called in errors and pictures.
    public let name: String
    /// What tells it from all others.
    public let key: OperationGraphKey

    init(name: String, index: Int) {
        self.name = name
        key = OperationGraphKey(index: index)
    }
}

/// A node of an ``OperationGraph``, whatever its value is. Only ``OperationNode`` conforms.
public protocol OperationGraphNode: Sendable {
    /// What the node is called in errors and pictures.
    var name: String { get }
    /// What tells it from all others.
    var key: OperationGraphKey { get }
}

/// Tells a node from all others, those of other graphs among them.
public struct OperationGraphKey: Hashable, Sendable {
    private final class Identity: Sendable {}

    let index: Int
    private let identity = Identity()

    init(index: Int) {
        self.index = index
    }

    /// Two keys are equal if they are of one node.
    public static func == (left: OperationGraphKey, right: OperationGraphKey) -> Bool {
        left.identity === right.identity
    }

    /// Hashes what tells nodes apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(identity))
    }
}
