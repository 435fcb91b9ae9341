public import IDMCore

/// Providers that depend on one another, run as a unit.
///
/// ```swift
/// var graph = OperationGraph<Account>()
/// let categories = graph.add("categories", CategoriesProvider())
/// let store = graph.add("store", StoreProvider(), from: categories)
/// graph.add("notifications", NotificationsProvider(), after: store)
///
/// let results = try await graph.request(account)
/// print(results[store] ?? 0)
/// ```
///
/// A node starts as soon as all that it depends on has succeeded; what doesn't depend on each other runs at the same
/// time. A graph is a value and itself a provider: each request is a run of its own, and a copy may be changed and run
/// beside the original. Use ``start(_:)`` for a run that can be paused.
///
/// A cancel reaches every node that runs. As in a group, a request ends when they have ended.
public struct OperationGraph<Input: Sendable>: DataProvider {
    /// What becomes of the others when a node fails.
    public enum FailureRule: Sendable, Hashable {
        /// They are cancelled, and the request throws an ``OperationGraphError/failed(_:because:results:)``. If the
        /// node was cancelled, by itself or by others, the request is as well.
        case stop
        /// They go on. Those that depend on the node are skipped, and the results tell of it.
        case carryOn
    }

    struct Node: Sendable {
        let node: any OperationGraphNode
        let provider: any DataProvider
        /// Those that come before it. Some may be named more than once.
        var dependencies: [Int]
        let request: @Sendable (Input, any GraphValues) async throws -> any Sendable
    }

    private(set) var nodes: [Node] = []
    private var foreign: String?
    let width: Int
    let rule: FailureRule

    /// Makes a graph without nodes. Asked like that, it answers at once.
    ///
    /// - Parameters:
    ///   - width: How many nodes run at the same time. Less than one counts as one.
    ///   - rule: What becomes of the others when a node fails.
    public init(width: Int = .max, onFailure rule: FailureRule = .stop) {
        self.width = width
        self.rule = rule
    }

    // MARK: Nodes

    /// Adds a node that is asked with the input of the graph.
    @discardableResult
    public mutating func add<Output>(
        _ name: String, _ provider: some DataProvider<Input, Output>, after others: any OperationGraphNode...
    ) -> OperationNode<Output> {
        add(name, provider, after: others) { input, _ in try await provider.request(input) }
    }

    /// Adds a node that needs no input.
    @discardableResult
    @_disfavoredOverload
    public mutating func add<Output>(
        _ name: String, _ provider: some DataProvider<Void, Output>, after others: any OperationGraphNode...
    ) -> OperationNode<Output> {
        add(name, provider, after: others) { _, _ in try await provider.request(()) }
    }

    /// Adds a node that is asked with what another one has fetched.
    @discardableResult
    public mutating func add<Value, Output>(
        _ name: String, _ provider: some DataProvider<Value, Output>, from source: OperationNode<Value>,
        after others: any OperationGraphNode...
    ) -> OperationNode<Output> {
        add(name, provider, after: [source] + others) { _, values in
            try await provider.request(values.value(of: source))
        }
    }

    /// Adds a node that is asked with what a closure makes of the values of others.
    ///
    /// - Parameters:
    ///   - name: What the node is called in errors and pictures.
    ///   - provider: Fetches the node's value.
    ///   - sources: The nodes whose values the input is made of.
    ///   - input: Makes the input from the graph's input and those values. Called when all of them have succeeded.
    @discardableResult
    public mutating func add<each Value, Need: Sendable, Output>(
        _ name: String, _ provider: some DataProvider<Need, Output>, from sources: repeat OperationNode<each Value>,
        input: @escaping @Sendable (Input, repeat each Value) throws -> Need
    ) -> OperationNode<Output> {
        var others: [any OperationGraphNode] = []
        repeat others.append(each sources)
        return add(name, provider, after: others) { graphInput, values in
            try await provider.request(input(graphInput, repeat values.value(of: each sources)))
        }
    }

    private mutating func add<Output>(
        _ name: String, _ provider: any DataProvider, after others: [any OperationGraphNode],
        _ request: @escaping @Sendable (Input, any GraphValues) async throws -> Output
    ) -> OperationNode<Output> {
        let node = OperationNode<Output>(name: name, index: nodes.count)
        nodes.append(Node(node: node, provider: provider, dependencies: [], request: request))
        for other in others { addDependency(of: node, on: other) }
        return node
    }

    /// Makes a node wait for another one. Once is enough.
    ///
    /// That is how a cycle can come about, and how a node of another graph can get in. Running tells of both.
    public mutating func addDependency(of node: some OperationGraphNode, on other: any OperationGraphNode) {
        guard owns(node) else { return foreign = node.name }
        guard owns(other) else { return foreign = other.name }
        nodes[node.key.index].dependencies.append(other.key.index)
    }

    func owns(_ node: any OperationGraphNode) -> Bool {
        nodes.indices.contains(node.key.index) && nodes[node.key.index].node.key == node.key
    }

    /// For each node, those that come before it, each once.
    var dependencies: [[Int]] {
        // Marked, and not looked for: a node may have as many before it as there are nodes.
        var seenBy = Array(repeating: -1, count: nodes.count)
        return nodes.enumerated().map { index, node in
            node.dependencies.filter { other in
                defer { seenBy[other] = index }
                return seenBy[other] != index
            }
        }
    }

    /// Throws if the graph can't run: ``OperationGraphError/cycle(_:)`` or ``OperationGraphError/foreignNode(_:)``.
    public func validate() throws {
        _ = try schedule()
    }

    /// Which node starts when, in a run of its own. Throws what ``validate()`` does.
    func schedule() throws -> GraphSchedule {
        if let foreign { throw OperationGraphError.foreignNode(foreign) }
        let dependencies = dependencies
        let schedule = GraphSchedule(dependencies: dependencies, width: width)
        if let cycle = schedule.cycle(in: dependencies) {
            throw OperationGraphError.cycle(cycle.map { nodes[$0].node.name })
        }
        return schedule
    }

    // MARK: Running

    /// Runs all nodes, and answers with what came of them.
    ///
    /// The ambient progress is the mean of the nodes', and a `PauseControl` that is bound to the request pauses it.
    public func request(_ input: Input) async throws -> OperationGraphResults {
        let walk = GraphWalk(self, try schedule())
        return try await walk.perform(input)
    }

    /// Starts a run that goes on by itself.
    public func start(_ input: Input) -> OperationGraphRun {
        OperationGraphRun(self, input)
    }
}

extension OperationGraph where Input == Void {
    /// Starts a run of a graph that needs no input.
    public func start() -> OperationGraphRun {
        start(())
    }
}
